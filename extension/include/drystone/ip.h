/* IPv4 as a fragment, `fragments/ip.c`: a handler that looks at packets, and gives those that are whole and right to the fragments of
   the protocols above, with which it is put together when it is loaded. */
#ifndef DRYSTONE_IP_H
#define DRYSTONE_IP_H

#include <drystone/handler.h>

struct packet {
    struct ethernet ethernet;
    struct ipv4 ip;
} __attribute__((packed, aligned(2)));

/* What `udp.c` and `tcp.c` have: a message with so many bytes above IP, that lie in it. */
int udp_arrived(struct message *message, u32 length);
int tcp_arrived(struct message *message, u32 length);

/* The sum of an IPv4 header without options; 0xffff if its checksum is right. */
INLINE u64 sum_of_header(const struct ipv4 *ip) {
    const u16 *word = (const u16 *)ip;
    u64 sum = 0;
    for (u32 i = 0; i < 10; i++) sum += word[i];
    return folded(sum);
}

/* What UDP and TCP add to their sums: addresses, protocol, and their length. */
INLINE u64 sum_of_addresses(const struct ipv4 *ip, u32 length) {
    return (u64)ip->from + ip->to + swapped16(ip->protocol) + swapped16(length);
}

INLINE void turn_round(struct packet *packet) {
    for (u32 i = 0; i < 3; i++) {
        u16 part = packet->ethernet.to[i];
        packet->ethernet.to[i] = packet->ethernet.from[i];
        packet->ethernet.from[i] = part;
    }
    u32 address = packet->ip.to;
    packet->ip.to = packet->ip.from;
    packet->ip.from = address;
}

/* Writes the length of what is above IP, and the checksum. */
INLINE void set_length(struct ipv4 *ip, u32 length) {
    ip->length = swapped16(sizeof *ip + length);
    ip->checksum = 0;
    ip->checksum = ~sum_of_header(ip);
}

#endif
