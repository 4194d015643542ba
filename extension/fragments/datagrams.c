/* An application above UDP: a counter that others add to, as in `drystone handler new`. */
#include <drystone/udp.h>

LICENSE("MIT OR Apache-2.0");

REGION(16);

SHARED u64 sum;

int datagram_arrived(struct message *message, u32 length) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram || length < 8 || datagram->udp.to != swapped16(7000)) return PASS;
    u64 *number = (u64 *)datagram->data;
    *number = swapped64(__sync_add_and_fetch(&sum, swapped64(*number)));
    return answered(datagram);
}
