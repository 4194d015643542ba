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

/* Allocates n values, never none. */
static void *some(u_int n, size_t size)
{
    return calloc(n + 1, size);
}

static Store_Turned_answer_figures turned(const Store_Turn_call_figures *old)
{
    Store_Turned_answer_figures new = { { old->name.name_len, old->name.name_val } };
    new.visible = !old->visible;
    new.corners.corners_len = old->corners.corners_len;
    new.corners.corners_val = some(old->corners.corners_len, sizeof *new.corners.corners_val);
    for (u_int i = 0; i < old->corners.corners_len; i++) {
        new.corners.corners_val[i].x = old->corners.corners_val[i].y;
        new.corners.corners_val[i].y = -old->corners.corners_val[i].x;
    }
    new.weights.weights_len = old->weights.weights_len;
    new.weights.weights_val = some(old->weights.weights_len, sizeof *new.weights.weights_val);
    for (u_int i = 0; i < old->weights.weights_len; i++) {
        Store_Turn_call_figures_weights_element *from = &old->weights.weights_val[i];
        Store_Turned_answer_figures_weights_element *to = &new.weights.weights_val[i];
        u_int n = from->Store_Turn_call_figures_weights_element_len;
        to->Store_Turned_answer_figures_weights_element_len = n + 1;
        to->Store_Turned_answer_figures_weights_element_val = some(n, sizeof(double));
        memcpy(to->Store_Turned_answer_figures_weights_element_val,
               from->Store_Turn_call_figures_weights_element_val, n * sizeof(double));
        to->Store_Turned_answer_figures_weights_element_val[n] = 0.5;
    }
    new.register_.register__len = old->register_.register__len;
    new.register_.register__val = old->register_.register__val;
    return new;
}

/* What is allocated here is freed when the process ends. */
Store_Turned_answer *store_turn_1_svc(Store_Turn_call *call, struct svc_req *request)
{
    static Store_Turned_answer answer;
    static char digit;
    (void)request;
    u_int n = call->figures.figures_len, names = call->names.names_len;
    answer.figures.figures_len = n;
    answer.figures.figures_val = some(n, sizeof *answer.figures.figures_val);
    for (u_int i = 0; i < n; i++)
        answer.figures.figures_val[i] = turned(&call->figures.figures_val[i]);
    /* The structures differ in nothing but their names. */
    Store_Turned_answer_figures one = turned((Store_Turn_call_figures *)&call->one);
    memcpy(&answer.one, &one, sizeof one);
    answer.all.all_len = names + 1;
    answer.all.all_val = some(names, sizeof *answer.all.all_val);
    memcpy(answer.all.all_val, call->names.names_val, names * sizeof *answer.all.all_val);
    digit = '0' + call->nothings.nothings_len;
    answer.all.all_val[names].Store_Turned_answer_all_element_len = 1;
    answer.all.all_val[names].Store_Turned_answer_all_element_val = &digit;
    answer.nothings.nothings_len = call->nothings.nothings_len + 1;
    answer.nothings.nothings_val = some(call->nothings.nothings_len, sizeof *answer.nothings.nothings_val);
    return &answer;
}

Store_Numbers_answer *store_getnumbers_1_svc(Store_GetNumbers_call *call, struct svc_req *request)
{
    static Store_Numbers_answer answer;
    (void)request;
    answer.all.all_len = call->n;
    answer.all.all_val = some(call->n, sizeof *answer.all.all_val);
    for (u_int i = 0; i < call->n; i++)
        answer.all.all_val[i] = -(int)i - 1;
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
