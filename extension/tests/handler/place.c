/* Message vectoring: puts what a message carries where the message says, in shared memory. */
#include <drystone/handler.h>

REGION(16);

SHARED u8 memory[32768];
SHARED u32 writes;

HANDLER place(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram || datagram->udp.to != swapped16(7001)) return PASS;
    u32 at = swapped32(*(u32 *)datagram->data), length = swapped32(*(u32 *)(datagram->data + 4));
    if (length > 1400 || at > sizeof memory - length) return DROP;
    if (drystone_copy(memory + at, datagram->data + 8, length, end_of(message))) return DROP;
    writes++;
    return answered(datagram);
}
