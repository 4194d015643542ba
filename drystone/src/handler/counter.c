/* A counter that others add to, by datagrams to port 7000: eight bytes, the most significant first, are added, and the
   sum goes back before any process runs. All else is passed on.

       drystone handler check counter.c
       drystone handler attach counter.c --on eth0
       drystone handler stats counter
       drystone handler detach counter */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

/* Memory that an application can share: 16 pages. */
REGION(16);

SHARED struct {
    u64 sum, answered;
} state;

HANDLER counter(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram || datagram->udp.to != swapped16(7000)) return PASS;
    u64 *number = (u64 *)datagram->data;
    /* In one step each: Linux may run it on several processors. */
    u64 sum = __sync_add_and_fetch(&state.sum, swapped64(*number));
    __sync_fetch_and_add(&state.answered, 1);
    *number = swapped64(sum);
    return answered(datagram);
}
