/* Puts what a message carries into the region, on its way through a cipher and a checksum: for figures. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

REGION(16);

SHARED u8 place[2048];
SHARED u64 sum;

struct whitened {
    u64 key, sum;
};
PIPE(whitened, u32, word, kept) {
    kept->sum = plus_carry(kept->sum, word);
    return word ^ kept->key;
}

HANDLER whiten(struct message *message) {
    struct datagram *datagram = datagram_of(message, 0);
    if (!datagram || datagram->udp.to != swapped16(7001)) return PASS;
    u32 length = length_of(message) - sizeof *datagram;
    if (length > sizeof place) return PASS;
    struct whitened kept = {0x5a5a5a5a, 0};
#ifdef PASSES
    s64 done = drystone_copy_sum(place, datagram->data, length, end_of(message));
    if (done < 0) return PASS;
    for (u32 at = 0; at < sizeof place / 4; at++) {
        if (4 * at >= length) break;
        u32 SHARED *word = (u32 SHARED *)place + at;
        *word ^= kept.key;
    }
    sum = done;
#else
    if (pipe_into(whitened, place, datagram->data, length, end_of(message), &kept)) return PASS;
    sum = folded(kept.sum);
#endif
    return DROP;
}
