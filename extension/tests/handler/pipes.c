/* Takes what a message carries through pipes. Its first byte says which, a key of eight bytes follows. The data goes
   into the region, or is answered as it has become; the registers stand before it then, or alone. */
#include <drystone/handler.h>

REGION(16);

SHARED u8 place[4096];

/* A cipher and a checksum in one. */
struct whitened {
    u64 key, sum;
};
PIPE(whitened, u32, word, kept) {
    kept->sum = plus_carry(kept->sum, word);
    return word ^ kept->key;
}

/* Letters become small; how many there were. */
struct small {
    u64 letters;
};
PIPE(small, u8, letter, kept) {
    if ((u8)(letter - 'A') >= 26) return letter;
    kept->letters += 1;
    return letter + 32;
}

/* Depends on the order, and has registers that are wider than words. */
struct chained {
    u64 before, longest;
};
PIPE(chained, u16, word, kept) {
    u64 next = kept->before * 31 + word;
    if (word > kept->longest && (word & 1 || kept->before == 0)) kept->longest = word;
    kept->before = next;
    return word - (next >> 7);
}

/* Keeps what it sees. */
struct largest {
    u64 number;
};
PIPE(largest, u64, number, to) {
    if (number > to->number) to->number = number;
    return number;
}

struct swapped {};
PIPE(swapped, u32, word, kept) { return swapped32(word); }

HANDLER through(struct message *message) {
    struct datagram *datagram = datagram_of(message, 16);
    if (!datagram || datagram->udp.to != swapped16(7005)) return PASS;
    u8 which = datagram->data[0], over = datagram->data[1];
    u64 key = *(u64 *)(datagram->data + 8);
    u8 *from = datagram->data + 16, *end = end_of(message);
    u32 length = length_of(message) - sizeof *datagram - 16;
    s32 done = -1;
    u64 kept[2] = {key, 0};
    if (which == 0) {
        done = over ? pipe_over(whitened, from, length, end, (struct whitened *)kept)
                    : pipe_into(whitened, place, from, length, end, (struct whitened *)kept);
    } else if (which == 1) {
        done = over ? pipe_over(small, from, length, end, (struct small *)kept)
                    : pipe_into(small, place, from, length, end, (struct small *)kept);
    } else if (which == 2) {
        done = over ? pipe_over(chained, from, length, end, (struct chained *)kept)
                    : pipe_into(chained, place, from, length, end, (struct chained *)kept);
    } else if (which == 3) {
        done = pipe_over(largest, from, length, end, (struct largest *)kept);
    } else if (which == 4) {
        done = pipe_into(swapped, place, from, length, end, 0);
    }
    if (done != 0) return DROP;
    datagram = datagram_of(message, 16);
    if (!datagram) return DROP;
    *(u64 *)datagram->data = kept[0];
    *(u64 *)(datagram->data + 8) = kept[1];
    return answered(datagram);
}
