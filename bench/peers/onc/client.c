/* client tcp|udp N ADDRESS: asks N times, after a tenth of that; {"ms": .., "sum": ..} */
#include "place.h"
#include "joint.h"
#include <time.h>

static long long run(CLIENT *server, quad_t n) {
    long long sum = 0;
    for (quad_t x = 1; x <= n; x++) {
        quad_t *answer = ask_1(&x, server);
        if (!answer) {
            clnt_perror(server, "ask");
            exit(1);
        }
        sum += *answer;
    }
    return sum;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    quad_t n = atoll(argv[2]);
    struct sockaddr_in address = place(argv[3]);
    int s = open_socket(argv[1]);
    CLIENT *server;
    if (is_udp(argv[1])) {
        struct timeval wait = {1, 0};
        server = clntudp_create(&address, JOINT, JOINT_ONE, wait, &s);
    } else {
        if (connect(s, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
        server = clnttcp_create(&address, JOINT, JOINT_ONE, &s, 0, 0);
    }
    if (!server) {
        clnt_pcreateerror("client");
        return 1;
    }
    run(server, n / 10);
    double start = now();
    long long sum = run(server, n);
    printf("{\"ms\": %.3f, \"sum\": %lld}\n", now() - start, sum);
    return 0;
}
