/* A counter as `increment.c` is, for whatever port: whose a datagram is says who attaches it. */
#include <drystone/handler.h>

REGION(1);

SHARED struct {
    u64 counter, answered;
} state;

HANDLER sums(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram) return PASS;
    u64 *number = (u64 *)datagram->data;
    state.counter += swapped64(*number);
    state.answered++;
    *number = swapped64(state.counter);
    return answered(datagram);
}
