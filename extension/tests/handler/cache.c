/* Tables, a ring, and messages that grow and shrink. */
#include <drystone/handler.h>

struct key {
    u8 bytes[8];
};
struct value {
    u64 number;
    u32 asked, unused;
};

TABLE(values, HASH, struct key, struct value, 4);
TABLE(counts, ARRAY, u32, u64, 3);
RING(missed, 4096);

enum { ASK = 0, SET = 1, FORGET = 2 };

HANDLER cache(struct message *message) {
    struct datagram *datagram = datagram_of(message, 12);
    if (!datagram || datagram->udp.to != swapped16(7002)) return PASS;
    u32 what = swapped32(*(u32 *)datagram->data);
    struct key key = *(struct key *)(datagram->data + 4);
    u64 *count = look_up(&counts, &what);
    if (!count) return DROP;
    __sync_fetch_and_add(count, 1);
    if (what == FORGET) {
        *(u32 *)datagram->data = (u32)take_out(&values, &key);
        return answered(datagram);
    }
    if (what == SET) {
        if ((void *)datagram->data + 20 > end_of(message)) return DROP;
        struct value value = {.number = *(u64 *)(datagram->data + 12)};
        *(u32 *)datagram->data = (u32)put(&values, &key, &value, PUT_ANY);
        answered(datagram);
        return adjust_tail(message, -8) ? DROP : TRANSMIT;
    }
    struct value *value = look_up(&values, &key);
    if (!value) {
        say(&missed, &key, sizeof key, WAKE);
        return PASS;
    }
    value->asked++;
    u64 number = value->number;
    answered(datagram);
    if (adjust_tail(message, 8)) return DROP;
    datagram = begin_of(message);
    if ((void *)datagram->data + 20 > end_of(message)) return DROP;
    *(u64 *)(datagram->data + 12) = number;
    return TRANSMIT;
}
