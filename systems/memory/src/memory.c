/* Remote writes into memory that a process shares with this handler. Its slots are written again and again, in rounds.
   A write of an earlier round than its slot's was delayed too long: it is acknowledged and ignored. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

enum { SLOTS = 4, SLOT = 1 << 16, MOST = 1024 };

REGION(128);

SHARED struct {
    /* The latest round of which something has come, and of which all has come. */
    u64 begun[SLOTS], complete[SLOTS];
    u8 rest_of_page[4096 - 16 * SLOTS];
    u8 slots[SLOTS][SLOT];
} memory;

/* In the network's byte order; `data` are words as the writer's machine has them. */
struct request {
    u32 slot, offset, bytes, is_last;
    u64 round;
    u8 data[];
} __attribute__((packed, aligned(2)));

/* The slot is in this round now: 1; it is in a later one: 0; others change it too often: negative. */
INLINE s32 begin(u32 slot, u64 round) {
    for (u32 tries = 0; tries < 8; tries++) {
        u64 begun = memory.begun[slot];
        if (begun == round) return 1;
        if (begun > round) return 0;
        __sync_val_compare_and_swap(&memory.begun[slot], begun, round);
    }
    return -1;
}

HANDLER remote_write(struct message *message) {
    struct datagram *datagram = datagram_of(message, sizeof(struct request));
    if (!datagram || datagram->udp.to != swapped16(PORT)) return PASS;
    struct request *request = (struct request *)datagram->data;
    u32 slot = swapped32(request->slot), offset = swapped32(request->offset), bytes = swapped32(request->bytes);
    u64 round = swapped64(request->round);
    if (slot >= SLOTS || bytes > MOST || offset > SLOT - MOST || ((offset | bytes) & 7) != 0) return PASS;
    s32 begun = begin(slot, round);
    if (begun < 0) return PASS;
    if (begun) {
        u8 SHARED *to = (u8 SHARED *)memory.slots + slot * SLOT + offset;
        if (drystone_copy(to, request->data, bytes, end_of(message))) return PASS;
        /* In one step, which is seen after all that was written before. */
        if (request->is_last) __sync_lock_test_and_set(&memory.complete[slot], round);
    }
    /* The acknowledgement is the request without its data. */
    if (resize(message, sizeof *datagram + sizeof *request) < 0) return PASS;
    datagram = datagram_of(message, sizeof *request);
    return datagram ? answered_with(datagram, sizeof *request) : PASS;
}
