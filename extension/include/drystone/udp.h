/* UDP as a fragment, `fragments/udp.c`, above that of IP and below the application's. */
#ifndef DRYSTONE_UDP_H
#define DRYSTONE_UDP_H

#include <drystone/ip.h>

/* What the application has: a datagram that carries so many bytes, which lie in the message (`datagram_of`). */
int datagram_arrived(struct message *message, u32 length);

#endif
