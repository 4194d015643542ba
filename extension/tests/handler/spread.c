/* Each datagram to port 7000 says how many: so many go back to whoever sent it, all in one arrival, numbered; the last
   one is its answer. */
#include <drystone/handler.h>

OUTBOX(1 << 16);
REGION(1);

SHARED u64 spread;

HANDLER spread_out(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram || datagram->udp.to != swapped16(7000)) return PASS;
    u64 *number = (u64 *)datagram->data, count = swapped64(*number);
    if (count == 0 || count > 16) return PASS;
    answered(datagram);
    for (u64 i = 1; i < 16; i++) {
        if (i >= count) break;
        *number = swapped64(i);
        if (send_also(datagram, sizeof *datagram + 8) < 0) return PASS;
        __sync_fetch_and_add(&spread, 1);
    }
    *number = swapped64(count);
    return TRANSMIT;
}
