/* Answers `get KEY` of memcached's UDP protocol where the datagram arrives, from the table that its process keeps in
   shared memory; shadow.rs writes the same layout. All other requests are passed on to the process. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

#define MOST_KEY 250
#define LONGEST 1392 /* What fits into one datagram behind the frame. */
#define WAYS 4

#ifndef SETS
#define SETS 1024
#define PAGES 2048
#define PORT 11211
#endif

REGION(PAGES);

/* A ready answer, under the key that stands in it. */
struct slot {
    u64 hash;    /* 0: there is none. */
    u64 expires; /* By time_now(). */
    u64 asked;   /* When, the last time. */
    u32 key, length;
    u8 answer[LONGEST];
};

/* Keys with the same place. Who reads counts himself in; who writes waits until nobody reads, and from then on nobody
   begins to. */
struct set {
    u64 reading, writing;
    u64 elsewhere; /* Keys that only the process knows. */
    struct slot slots[WAYS];
};

SHARED struct {
    u64 open; /* Not before the process has filled the rest. */
    u64 hits, misses;
    u8 nothing[8]; /* The answer for a key that nobody has. */
    struct set sets[]; /* So many as SETS says. */
} cache;

/* What is in front of memcached's text in a datagram. */
struct frame {
    u16 id, number, count, unused;
} __attribute__((packed, aligned(2)));

struct request {
    struct ethernet ethernet;
    struct ipv4 ip;
    struct udp udp;
    struct frame frame;
    u8 text[];
} __attribute__((packed, aligned(2)));

enum { VALUE = 6 }; /* Where in an answer the key stands. */

struct key {
    const u8 *begin;
    u64 length, hash;
};

/* The only key of a `get`; its length is 0 if the request is another one. */
INLINE struct key key_of(struct request *request, u64 length, const u8 *end) {
    struct key none = {}, key = {.begin = request->text + 4, .hash = 0xcbf29ce484222325};
    const u8 *text = request->text, *from = APART(key.begin, request->frame.id);
    if (text + 4 > end || text[0] != 'g' || text[1] != 'e' || text[2] != 't' || text[3] != ' ') return none;
    for (; key.length <= MOST_KEY; key.length++) {
        if (from + key.length + 1 > end) return none;
        u8 byte = from[key.length];
        if (byte <= ' ' || byte == 127) break;
        key.hash = (key.hash ^ byte) * 0x100000001b3;
    }
    if (!key.hash) key.hash = 1;
    key.length = hidden(key.length, request->frame.id);
    if (key.length < 1 || key.length > MOST_KEY || key.length + 6 != length) return none;
    const u8 *rest = key.begin + key.length;
    if (rest + 2 > end || rest[0] != '\r' || rest[1] != '\n') return none;
    return key;
}

/* Keys with the same hash are hardly ever two, but strangers may find some. */
INLINE int is_key_of(struct slot SHARED *slot, const struct key *key, const u8 *end) {
    u64 length = slot->key, differences = length ^ key->length;
    const u8 *from = APART(key->begin, slot->hash);
    KEPT(length);
    for (u64 i = 0; i < length; i++) {
        KEPT(i);
        if (i >= MOST_KEY || from + i + 1 > end) return 0;
        differences |= from[i] ^ slot->answer[VALUE + i];
    }
    return differences == 0;
}

/* Has the message be the answer to the request that it was. 0: there is no room, and it is as before. */
INLINE int answer_with(struct message *message, const u8 SHARED *answer, u32 length) {
    struct request *request = begin_of(message);
    if ((void *)request->text > end_of(message)) return 0;
    struct request head = *request;
    if (length > LONGEST || resize(message, sizeof head + length) < 0) return 0;
    request = begin_of(message);
    const u8 *end = end_of(message);
    if (request->text > end) return 0;
    head.frame.unused = 0;
    answered_with((struct datagram *)&head, sizeof head.frame + length);
    *request = head;
    fill(request->text, answer, length, LONGEST, end);
    return 1;
}

INLINE struct slot SHARED *slot_of(struct set SHARED *set, const struct key *key) {
    struct slot SHARED *slot = set->slots;
    for (u32 way = 0; way < WAYS; way++, slot++) {
        if (slot->hash == key->hash) return slot;
    }
    return 0;
}

/* What the set says to it, which nobody writes meanwhile. */
INLINE int looked_up(struct message *message, struct set SHARED *set, const struct key *key) {
    struct slot SHARED *slot = slot_of(set, key);
    if (!slot) {
        if (set->elsewhere || !answer_with(message, cache.nothing, 5)) return PASS;
        __sync_fetch_and_add(&cache.misses, 1);
        return TRANSMIT;
    }
    u64 now = time_now();
    if (slot->expires <= now || !is_key_of(slot, key, end_of(message))) return PASS;
    if (!answer_with(message, slot->answer, slot->length)) return PASS;
    slot->asked = now;
    __sync_fetch_and_add(&cache.hits, 1);
    return TRANSMIT;
}

HANDLER get(struct message *message) {
    struct datagram *datagram = datagram_of(message, sizeof(struct frame) + 7);
    if (!datagram || datagram->udp.to != swapped16(PORT)) return PASS;
    struct request *request = (struct request *)datagram;
    if (request->frame.number != 0 || request->frame.count != swapped16(1)) return PASS;
    u64 length = swapped16(request->udp.length);
    if (length + sizeof request->ip != swapped16(request->ip.length)) return PASS;
    struct key key = key_of(request, length - sizeof request->udp - sizeof request->frame, end_of(message));
    if (!key.length) return PASS;

    struct set SHARED *set = &cache.sets[(key.hash >> 32) % SETS];
    int verdict = PASS;
    __sync_fetch_and_add(&set->reading, 1);
    if (cache.open && !set->writing) verdict = looked_up(message, set, &key);
    __sync_fetch_and_add(&set->reading, -1);
    return verdict;
}
