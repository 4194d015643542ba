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

static void show(const Store_Turned_answer_figures *figure)
{
    printf("%.*s%s", figure->name.name_len, figure->name.name_val, figure->visible ? "TRUE" : "FALSE");
    for (u_int i = 0; i < figure->corners.corners_len; i++)
        printf(" %lld,%lld", (long long)figure->corners.corners_val[i].x, (long long)figure->corners.corners_val[i].y);
    for (u_int i = 0; i < figure->weights.weights_len; i++) {
        Store_Turned_answer_figures_weights_element *weights = &figure->weights.weights_val[i];
        printf(" [");
        for (u_int k = 0; k < weights->Store_Turned_answer_figures_weights_element_len; k++)
            printf(" %.1f", weights->Store_Turned_answer_figures_weights_element_val[k]);
        printf(" ]");
    }
    for (u_int i = 0; i < figure->register_.register__len; i++)
        printf("%c", (char)figure->register_.register__val[i]);
    printf("\n");
}

static int turn(CLIENT *client)
{
    double numbers[] = { 1.5, 2 };
    Store_Turn_call_figures_weights_element weights[] = { { 0, NULL }, { 2, numbers } };
    Store_Turn_call_figures_corners corners[] = { { 1, 2 }, { -3, 0 } };
    Store_Turn_call_one_weights_element weights_of_one[] = { { 0, NULL }, { 2, numbers } };
    Store_Turn_call_one_corners corners_of_one[] = { { 1, 2 }, { -3, 0 } };
    u_int letters[] = { 'r', 's' };
    Store_Turn_call_figures figures[] = {
        { { 0, NULL } },
        { { 1, "b" }, { 2, corners }, TRUE, { 2, weights }, { 2, letters } },
    };
    Store_Turn_call_one one = { { 1, "b" }, { 2, corners_of_one }, TRUE, { 2, weights_of_one }, { 2, letters } };
    Store_Turn_call_names_element names[] = { { 0, NULL }, { 5, "abcde" } };
    Store_Turn_call_nothings nothings[] = { { 0 }, { 0 } };
    Store_Turn_call call = { { 2, figures }, one, { 2, names }, { 2, nothings } };
    Store_Turned_answer *turned = store_turn_1(&call, client);
    if (!turned || turned->figures.figures_len != 2 || turned->all.all_len != 3 || turned->nothings.nothings_len != 3)
        return 0;
    show(&turned->figures.figures_val[0]);
    show(&turned->figures.figures_val[1]);
    Store_Turned_answer_figures *second = &turned->figures.figures_val[1];
    Store_Turned_answer_all_element *all = turned->all.all_val;
    int is_one = turned->one.corners.corners_val[1].y == second->corners.corners_val[1].y;
    int is_all = all[0].Store_Turned_answer_all_element_len == 0
        && all[2].Store_Turned_answer_all_element_len == 1 && all[2].Store_Turned_answer_all_element_val[0] == '2';
    printf("%s%u%s\n", is_one ? "TRUE" : "FALSE", turned->nothings.nothings_len, is_all ? "TRUE" : "FALSE");
    Store_GetNumbers_call some = { 1000 };
    Store_Numbers_answer *answer = store_getnumbers_1(&some, client);
    if (!answer)
        return 0;
    printf("%u%lld\n", answer->all.all_len, (long long)answer->all.all_val[999]);
    return 1;
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
    if (!turn(client)) {
        clnt_perror(client, "Turn");
        return 1;
    }
    struct timeval pause = { 1, 0 };
    printf("%s\n", clnt_sperrno(clnt_call(client, 99, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, pause)));
    return 0;
}
