/* A server of Store by libtirpc, known to no rpcbind unless there is a second argument. Argument: tcp or udp. Prints
   its port. */
#include "store.h"
#include <arpa/inet.h>
#include <rpc/pmap_clnt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int notes;

Store_GetLength_result *store_getlength_1_svc(Store_GetLength_call *call, struct svc_req *request)
{
    static Store_GetLength_result result;
    (void)request;
    result.answer = call->name.name_len == 0;
    if (result.answer) {
        result.Store_GetLength_result_u.Failed.reason.reason_len = 7;
        result.Store_GetLength_result_u.Failed.reason.reason_val = "no name";
    } else {
        result.Store_GetLength_result_u.Length.n = call->name.name_len;
    }
    return &result;
}

Store_Repeated_answer *store_repeat_1_svc(Store_Repeat_call *call, struct svc_req *request)
{
    static Store_Repeated_answer answer;
    (void)request;
    free(answer.x.x_val);
    answer.x.x_len = call->x.x_len * call->n;
    answer.x.x_val = malloc(answer.x.x_len + 1);
    for (int i = 0; i < call->n; i++)
        memcpy(answer.x.x_val + i * call->x.x_len, call->x.x_val, call->x.x_len);
    return &answer;
}

Store_Sum_answer *store_add_1_svc(Store_Add_call *call, struct svc_req *request)
{
    static Store_Sum_answer answer;
    (void)request;
    answer = (Store_Sum_answer){ call->n + 1, call->r + 0.5, call->c, !call->b };
    return &answer;
}

void *store_note_1_svc(Store_Note_call *call, struct svc_req *request)
{
    static char done;
    (void)call, (void)request;
    notes++;
    return &done;
}

Store_Notes_answer *store_getnotes_1_svc(void *call, struct svc_req *request)
{
    static Store_Notes_answer answer;
    (void)call, (void)request;
    answer.n = notes;
    return &answer;
}

void store_rpc_program_1(struct svc_req *request, SVCXPRT *transport);

int main(int count, char **arguments)
{
    int is_udp = !strcmp(arguments[1], "udp");
    int at = socket(AF_INET, is_udp ? SOCK_DGRAM : SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(at, (struct sockaddr *)&address, sizeof address) || (!is_udp && listen(at, 16)))
        return 1;
    SVCXPRT *transport = is_udp ? svcudp_create(at) : svctcp_create(at, 0, 0);
    int protocol = count < 3 ? 0 : is_udp ? IPPROTO_UDP : IPPROTO_TCP;
    if (protocol)
        pmap_unset(Store_rpc_program, Store_rpc_version);
    if (!transport || !svc_register(transport, Store_rpc_program, Store_rpc_version, store_rpc_program_1, protocol))
        return 1;
    printf("%d\n", transport->xp_port);
    fflush(stdout);
    svc_run();
    return 1;
}
