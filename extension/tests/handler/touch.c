/* Reads, or writes, a word as far from the beginning of the region as the message says, also where it has none. */
#include <drystone/handler.h>

REGION(16);

/* What is behind it nobody fills. */
SHARED u8 memory[8];

HANDLER touch(struct message *message) {
    struct datagram *datagram = datagram_of(message, 16);
    if (!datagram || datagram->udp.to != swapped16(7003)) return PASS;
    u32 at = swapped32(*(u32 *)datagram->data), writes = *(u32 *)(datagram->data + 4);
    u64 *value = (u64 *)(datagram->data + 8);
    u64 SHARED *place = (u64 SHARED *)(memory + at);
    u64 before = *place;
    if (writes) *place = *value;
    *value = before;
    return answered(datagram);
}
