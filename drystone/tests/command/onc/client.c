/* A client of Store by libtirpc. Arguments: tcp or udp, and a port; without a port rpcbind is asked for it. */
#include "store.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CLIENT *connect_to(const char *transport, const char *port)
{
    if (!port)
        return clnt_create("127.0.0.1", Store_rpc_program, Store_rpc_version, transport);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket = RPC_ANYSOCK;
    struct timeval pause = { 1, 0 };
    if (!strcmp(transport, "udp"))
        return clntudp_create(&at, Store_rpc_program, Store_rpc_version, pause, &socket);
    return clnttcp_create(&at, Store_rpc_program, Store_rpc_version, &socket, 0, 0);
}

int main(int count, char **arguments)
{
    CLIENT *client = connect_to(arguments[1], count > 2 ? arguments[2] : NULL);
    if (!client) {
        clnt_pcreateerror("client");
        return 1;
    }
    Store_GetLength_call name = { { 3, "abc" } };
    Store_GetLength_result *length = store_getlength_1(&name, client);
    if (!length || length->answer != 0) {
        clnt_perror(client, "GetLength");
        return 1;
    }
    printf("%lld\n", (long long)length->Store_GetLength_result_u.Length.n);
    name.name.name_len = 0;
    length = store_getlength_1(&name, client);
    if (!length || length->answer != 1)
        return 1;
    printf("%.*s\n", length->Store_GetLength_result_u.Failed.reason.reason_len,
           length->Store_GetLength_result_u.Failed.reason.reason_val);
    Store_Note_call note = { { 1, "a" } };
    if (!store_note_1(&note, client) || !store_note_1(&note, client))
        return 1;
    Store_Notes_answer *notes = store_getnotes_1(NULL, client);
    if (!notes)
        return 1;
    printf("%lld\n", (long long)notes->n);
    Store_Add_call add = { -5, 1.5, 'x', TRUE };
    Store_Sum_answer *sum = store_add_1(&add, client);
    if (!sum)
        return 1;
    printf("%lld %.1f %c %s\n", (long long)sum->n, sum->r, (char)sum->c, sum->b ? "TRUE" : "FALSE");
    Store_Repeat_call repeat = { { 5, "abcde" }, 1001 };
    Store_Repeated_answer *repeated = store_repeat_1(&repeat, client);
    if (!repeated) {
        clnt_perror(client, "Repeat");
        return 1;
    }
    printf("%u\n", repeated->x.x_len);
    struct timeval pause = { 1, 0 };
    printf("%s\n", clnt_sperrno(clnt_call(client, 99, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, pause)));
    return 0;
}
