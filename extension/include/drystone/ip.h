/* IPv4 as a fragment, `fragments/ip.c`: a handler that checks packets, and passes complete, correct ones to the
   fragments of the protocols above, with which it is linked when it is loaded. */
#ifndef DRYSTONE_IP_H
#define DRYSTONE_IP_H

#include <drystone/handler.h>

struct packet {
    struct ethernet ethernet;
    struct ipv4 ip;
} __attribute__((packed, aligned(2)));

/* The functions of `udp.c` and `tcp.c`: the message has so many bytes above IP. */
int udp_arrived(struct message *message, u32 length);
int tcp_arrived(struct message *message, u32 length);

/* What UDP and TCP add to their sums: addresses, protocol, and their length. */
INLINE u64 sum_of_addresses(const struct ipv4 *ip, u32 length) {
    return (u64)ip->from + ip->to + swapped16(ip->protocol) + swapped16(length);
}

#endif
