/* UDP as a fragment, `fragments/udp.c`, above IP and below the application. */
#ifndef DRYSTONE_UDP_H
#define DRYSTONE_UDP_H

#include <drystone/ip.h>

/* The application's function: the message is a datagram with so many bytes of data (`datagram_of`). */
int datagram_arrived(struct message *message, u32 length);

#endif
