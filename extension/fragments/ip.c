/* IP, written once (see drystone/ip.h): whatever isn't a whole packet of IPv4 without options, and with a right
   checksum, is passed on. */
#include <drystone/ip.h>

LICENSE("MIT OR Apache-2.0");

/* Without a fragment for it a protocol is nothing to this handler. */
__attribute__((weak, noinline)) int udp_arrived(struct message *message, u32 length) { return PASS; }
__attribute__((weak, noinline)) int tcp_arrived(struct message *message, u32 length) { return PASS; }

HANDLER ip_arrived(struct message *message) {
    struct packet *packet = begin_of(message);
    if ((void *)(packet + 1) > end_of(message)) return PASS;
    struct ipv4 *ip = &packet->ip;
    if (packet->ethernet.type != TYPE_IPV4 || ip->version_and_words != 0x45) return PASS;
    if ((ip->fragment & swapped16(0x3fff)) != 0 || sum_of_header(ip) != 0xffff) return PASS;
    u32 length = swapped16(ip->length);
    if (length < sizeof *ip || length + sizeof packet->ethernet > length_of(message)) return PASS;
    if (ip->protocol == PROTOCOL_UDP) return udp_arrived(message, length - sizeof *ip);
    if (ip->protocol == PROTOCOL_TCP) return tcp_arrived(message, length - sizeof *ip);
    return PASS;
}
