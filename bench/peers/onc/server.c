/* server tcp|udp ADDRESS: says `listening`, and answers until it is ended; rpcbind need not know of it. */
#include "place.h"
#include "joint.h"

void joint_1(struct svc_req *request, SVCXPRT *transport);

quad_t *ask_1_svc(quad_t *x, struct svc_req *request) {
    static quad_t answer;
    (void)request;
    answer = *x + 1;
    return &answer;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sockaddr_in address = place(argv[2]);
    int s = open_socket(argv[1]);
    if (bind(s, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
    SVCXPRT *transport;
    if (is_udp(argv[1])) {
        transport = svcudp_create(s);
    } else {
        if (listen(s, 16) < 0) fail("listen");
        transport = svctcp_create(s, 0, 0);
    }
    if (!transport || !svc_register(transport, JOINT, JOINT_ONE, joint_1, 0)) fail("svc_register");
    printf("listening\n");
    fflush(stdout);
    svc_run();
    return 1;
}
