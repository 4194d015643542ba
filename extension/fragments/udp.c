/* UDP, written once (see drystone/udp.h): a datagram with a right checksum, or none, goes to the application. */
#include <drystone/udp.h>

LICENSE("MIT OR Apache-2.0");

__attribute__((weak, noinline)) int datagram_arrived(struct message *message, u32 length) { return PASS; }

int udp_arrived(struct message *message, u32 length) {
    struct datagram *datagram = datagram_of(message, 0);
    if (!datagram || length > 1536) return PASS;
    u32 own = swapped16(datagram->udp.length);
    if (own < sizeof datagram->udp || own > length) return PASS;
    if (datagram->udp.checksum != 0) {
        s64 sum = drystone_sum((u8 *)&datagram->udp, own, end_of(message));
        if (sum < 0 || folded(sum + sum_of_addresses(&datagram->ip, own)) != 0xffff) return PASS;
    }
    return datagram_arrived(message, own - sizeof datagram->udp);
}
