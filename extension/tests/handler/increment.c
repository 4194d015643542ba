/* Remote increment (*ASHs*, section V-B): a counter that clients add to, and answers. */
#include <drystone/handler.h>

REGION(16);

SHARED struct {
    u64 counter, answered;
} state;

HANDLER increment(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram) return PASS;
#ifndef ANY_PORT
    if (datagram->udp.to != swapped16(7000)) return PASS;
#endif
    u64 *number = (u64 *)datagram->data;
    /* At once: Linux runs it on several processors. */
    u64 sum = __sync_add_and_fetch(&state.counter, swapped64(*number));
    __sync_fetch_and_add(&state.answered, 1);
    *number = swapped64(sum);
    return answered(datagram);
}
