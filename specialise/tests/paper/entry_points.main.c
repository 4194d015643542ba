#include "checks.h"

struct file { unsigned long position, limit; unsigned char *bytes; };

long entry_points(struct file *file, const void *base, unsigned long length);
long entry_points_special(struct file *file, const void *base, unsigned long length);

int main(void) {
    static unsigned char bytes[2][256];
    struct file original = { 0, 256, bytes[0] }, special = { 0, 256, bytes[1] };
    for (int round = 0; round < 40; round++) {
        unsigned char value[32];
        unsigned length = next() % 33;
        scatter(value, sizeof value);
        long wanted = entry_points(&original, value, length);
        long found = entry_points_special(&special, value, length);
        same("the result", &wanted, &found, sizeof wanted);
        same("the position", &original.position, &special.position, sizeof original.position);
        same("the file", bytes[0], bytes[1], sizeof bytes[0]);
        printf("%ld at %lu\n", found, special.position);
    }
}
