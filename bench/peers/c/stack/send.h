/* From a client's stub to an Ethernet frame: what the stack looks like from outside. */

#ifndef SEND_H
#define SEND_H

#include <stdint.h>

struct pair;

/* Bytes before a call message: Ethernet, IP and UDP headers. */
#define FRAME_HEADER (14 + 20 + 8)

/* The most that a frame has; every frame buffer has so many bytes. */
#define FRAME 1514

/* Once, before all others: makes the client, the interface, its neighbours and the socket. */
void open_stack(void);

/* All give the length of the frame, or 0 if it could not be sent. */
int send_pair(unsigned char *restrict frame, uint32_t xid, const struct pair *restrict pair);
int send_array_100(unsigned char *restrict frame, uint32_t xid, const int *restrict values);
int send_array_250(unsigned char *restrict frame, uint32_t xid, const int *restrict values);

/* The addresses, which the hand-written code and the tests know too. */
#define CLIENT_ADDRESS 10, 0, 0, 2
#define SERVER_ADDRESS 10, 0, 0, 1
#define NETWORK_MASK 255, 255, 255, 0
#define CLIENT_HARDWARE 0x02, 0x00, 0x00, 0x00, 0x00, 0x02
#define SERVER_HARDWARE 0x02, 0x00, 0x00, 0x00, 0x00, 0x01
#define CLIENT_PORT 1023
#define SERVER_PORT 2049

#endif
