/* loops copy|instructions N      {"ns": .., "result": ..}
 *
 * As ../src/main.rs says. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "null.h"

static char buffer[512];

__attribute__((noinline)) static uint64_t copy(uint64_t left) {
    uint64_t sum = 0;
    do {
        sum += null_write(4, buffer, null_read(3, buffer, sizeof buffer));
    } while (--left != 0);
    return sum;
}

__attribute__((noinline)) static uint64_t instructions(uint64_t left) {
    uint64_t sum = 1;
    do {
        sum = sum * 31 + left;
        /* So that the loop stays one. */
        __asm__ volatile("" : "+r"(sum));
    } while (--left != 0);
    return sum;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "error: say `loops copy|instructions N`\n");
        return 1;
    }
    uint64_t n = strtoull(argv[2], NULL, 10);
    uint64_t (*work)(uint64_t) = strcmp(argv[1], "copy") == 0 ? copy : instructions;
    work(n / 10 + 1);
    double begin = now();
    uint64_t result = work(n);
    printf("{\"ns\": %f, \"result\": %" PRIu64 "}\n", (now() - begin) / n, result);
    return 0;
}
