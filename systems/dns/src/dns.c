/* Answers questions about a zone where the datagram arrives, from the ready answers that its process keeps in shared
   memory; ready.rs writes the same layout. All other questions are passed on to the process. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

#define LONGEST_NAME 255
#define LONGEST 512 /* Of what stands behind the question. */
#define LONGEST_QUERY 1000
#define WAYS 4
#define SHIFTS 4

#ifndef SETS
#define SETS 64
#define PAGES 64
#define PORT 53
#endif

REGION(PAGES);

/* In place of a type: a name's other types, and the names below it that there aren't. */
enum { OTHER = 0, BELOW = 65535 };
enum { TYPE_OPT = 41, FIRST_META = 128, LAST_META = 255, CLASS_IN = 1, OUR_SIZE = 1232, OLD_SIZE = 512 };

/* A ready answer: behind it are its bytes, and the name in small letters. */
struct slot {
    u64 hash;
    u16 name, type;     /* How long the name is. */
    u16 length;         /* Of the bytes. 0: the process answers. */
    u16 flags;          /* Of the header, as it stands there. */
    u16 counts[3];      /* Of answers, authorities, additional records; as they are. */
    /* Where in the bytes are pointers to a part of the question behind its first label. 65535: nowhere. */
    u16 shifts[SHIFTS];
    u16 unused;
    u8 bytes[];
};

/* Answers with the same place in the table. */
struct set {
    u64 elsewhere; /* Some that only the process knows. */
    struct way {
        u32 tag; /* The lower half of the hash. */
        u32 at;  /* Where the answer is, by words from the beginning of the region; 0: there is none. */
    } ways[WAYS];
};

SHARED struct {
    u64 open; /* Not before the process has filled the rest. */
    u64 answered;
    struct set sets[]; /* So many as SETS says. */
} zone;

struct header {
    u16 id, flags, questions, answers, authorities, additional;
} __attribute__((packed, aligned(2)));

struct request {
    struct ethernet ethernet;
    struct ipv4 ip;
    struct udp udp;
    struct header header;
    u8 name[];
} __attribute__((packed, aligned(2)));

/* What follows a name. */
struct question {
    u16 type, class;
} __attribute__((packed, aligned(1)));

/* EDNS0. */
struct opt {
    u8 root;
    u16 type, size;
    u8 code, version;
    u16 flags, length;
} __attribute__((packed, aligned(1)));

enum { DNSSEC_OK = 0x0080 };
enum { RESPONSE = 0x0080, AUTHORITATIVE = 0x0004, RECURSION_DESIRED = 0x0001, ASKS = 0x00fe, TRUNCATED = 0x0002 };

struct asked {
    u64 name, first;      /* Bytes of the name, and of its first label. */
    u64 hash, below_hash; /* Of the name, and without its first label. */
    u16 type;
    u16 size;  /* As much as the client takes. */
    u16 flags; /* Of EDNS0. */
    u16 has_opt;
};

INLINE u8 small(u8 letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; }

INLINE u64 mixed(u64 hash, u8 byte) { return (hash ^ byte) * 0x100000001b3; }

INLINE u64 with_type(u64 hash, u16 type) {
    hash = mixed(mixed(hash, type & 255), type >> 8);
    return hash ? hash : 1;
}

/* Reads the name. Whether it is one, and not the root. */
INLINE int read_name(struct request *request, struct asked *asked, const u8 *end) {
    const u8 *from = APART(request->name, request->header.id);
    u64 left = 0, first = 0, i = 0, below = 0xcbf29ce484222325, hash = below;
    for (; i < LONGEST_NAME; i++) {
        KEPT(i);
        if (i >= LONGEST_NAME || from + i + 1 > end) return 0;
        u8 byte = from[i];
        if (left == 0) {
            if (byte > 63) return 0;
            if (i > 0 && first == 0) first = i;
            left = byte;
            if (byte == 0) break;
        } else {
            byte = small(byte);
            left--;
        }
        left = hidden(left, request->header.id);
        first = hidden(first, request->header.id);
        hash = mixed(hash, byte);
        if (first) below = mixed(below, byte);
    }
    if (i >= LONGEST_NAME || !first) return 0;
    asked->name = hidden(i + 1, request->header.id);
    asked->first = hidden(first, request->header.id);
    asked->hash = mixed(hash, 0);
    asked->below_hash = mixed(below, 0);
    return 1;
}

/* Reads the question, and what follows it up to the end of the message. Whether that is all as usual. */
INLINE int read_question(struct request *request, struct asked *asked, const u8 *end) {
    u64 length = swapped16(request->udp.length);
    if (length > LONGEST_QUERY || length + sizeof request->ip != swapped16(request->ip.length)) return 0;
    if ((u8 *)&request->udp + length > end) return 0;
    struct header *header = &request->header;
    if (header->flags & (ASKS & 0x00ff) || header->questions != swapped16(1)) return 0;
    if (header->answers || header->authorities || header->additional & ~swapped16(1)) return 0;
    if (!read_name(request, asked, end)) return 0;
    if (asked->name > LONGEST_NAME) return 0;
    u64 so_far = sizeof request->udp + sizeof *header + asked->name + sizeof(struct question);
    struct question *question = (void *)request->name + asked->name;
    struct opt *opt = (void *)(question + 1);
    if ((void *)opt > (void *)end || question->class != swapped16(CLASS_IN)) return 0;
    asked->type = swapped16(question->type);
    asked->size = OLD_SIZE;
    asked->flags = 0;
    asked->has_opt = header->additional != 0;
    if (!asked->has_opt) return length == so_far;
    if ((void *)(opt + 1) > (void *)end || opt->root || opt->type != swapped16(TYPE_OPT)) return 0;
    if (opt->version || opt->code) return 0;
    if (so_far + sizeof *opt + swapped16(opt->length) != length) return 0;
    u16 size = swapped16(opt->size);
    if (size > OLD_SIZE) asked->size = size < OUR_SIZE ? size : OUR_SIZE;
    asked->flags = opt->flags & DNSSEC_OK;
    return 1;
}

enum { FOUND, NOT_THERE, ELSEWHERE };

struct found {
    struct slot SHARED *slot;
    u32 how;
};

INLINE struct found found(u64 name_hash, u16 type) {
    u64 hash = with_type(name_hash, type);
    struct set SHARED *set = &zone.sets[(hash >> 32) % SETS];
    for (u32 way = 0; way < WAYS; way++) {
        u64 at = set->ways[way].at;
        if (set->ways[way].tag != (u32)hash || !at) continue;
        struct slot SHARED *slot = (struct slot SHARED *)((u64 SHARED *)&zone + at);
        if (slot->hash == hash) return (struct found){slot, slot->type == type ? FOUND : ELSEWHERE};
    }
    return (struct found){0, set->elsewhere ? ELSEWHERE : NOT_THERE};
}

/* Whether a name, from its second label on if `below`, is that of a ready answer: strangers may find others with the
   same hash. */
INLINE int is_of(struct slot SHARED *slot, struct request *request, struct asked *asked, u64 skipped, const u8 *end) {
    u64 length = slot->name, differences = length ^ (asked->name - skipped);
    const u8 SHARED *of = slot->bytes + slot->length;
    const u8 *from = request->name + (skipped & 127);
    KEPT(length);
    for (u64 i = 0; i < length; i++) {
        KEPT(i);
        if (i >= LONGEST_NAME || from + i + 1 > end) return 0;
        differences |= small(from[i]) ^ of[i];
    }
    return differences == 0;
}

/* The name and what follows it stand at `to` then, if the message has grown before them. */
INLINE void move_back(u8 *to, u64 by, u64 length, const u8 *end) {
    to = APART(to, by);
    length = hidden(length, by);
    for (u64 i = 0; i < length; i++) {
        KEPT(i);
        if (i >= LONGEST_NAME + 4) return;
        u8 *at = to + i;
        const u8 *from = at + by;
        KEPT(from);
        if (at + 1 > end || from + 1 > end) return;
        *at = *from;
    }
}

/* Pointers to a part of the question, whose first label is longer than was thought. */
INLINE void shift(u8 *bytes, struct slot SHARED *slot, u64 by, const u8 *end) {
    for (u32 i = 0; i < SHIFTS; i++) {
        u64 at = slot->shifts[i];
        if (at > LONGEST - 2) return;
        u8 *pointer = bytes + at;
        if (pointer + 2 > end) return;
        u16 place = (pointer[0] << 8 | pointer[1]) + by;
        pointer[0] = place >> 8;
        pointer[1] = place;
    }
}

/* Makes the message the answer. */
INLINE int answer_from(struct message *message, struct slot SHARED *slot, struct asked *asked, u64 skipped) {
    u64 length = slot->length, question = asked->name + sizeof(struct question);
    u64 bytes = sizeof(struct header) + question + length + (asked->has_opt ? sizeof(struct opt) : 0);
    if (length == 0 || length > LONGEST || question > LONGEST_NAME + 4 || bytes > asked->size) return PASS;
    struct request *request = begin_of(message);
    if ((void *)request->name > end_of(message)) return PASS;
    struct request head = *request;
    s32 moved = resize(message, sizeof(struct datagram) + bytes);
    if (moved < 0) return PASS;
    request = begin_of(message);
    const u8 *end = end_of(message);
    if (request->name > end) return ABORTED;
    head.header.flags = (head.header.flags & RECURSION_DESIRED) | slot->flags;
    head.header.answers = slot->counts[0];
    head.header.authorities = slot->counts[1];
    head.header.additional = slot->counts[2] + (asked->has_opt ? swapped16(1) : 0);
    answered_with((struct datagram *)&head, bytes);
    *request = head;
    u8 *body = request->name + question;
    if (moved) move_back(request->name, moved & 1023, question, end);
    fill(body, slot->bytes, length, LONGEST, end);
    if (skipped) shift(body, slot, skipped - 2, end);
    if (asked->has_opt) {
        struct opt *opt = (void *)(body + length), ours = {.type = swapped16(TYPE_OPT), .size = swapped16(OUR_SIZE)};
        if ((void *)(opt + 1) > (void *)end) return ABORTED;
        ours.flags = asked->flags;
        *opt = ours;
    }
    __sync_fetch_and_add(&zone.answered, 1);
    return TRANSMIT;
}

HANDLER dns(struct message *message) {
    struct datagram *datagram = datagram_of(message, sizeof(struct header) + 6);
    if (!datagram || datagram->udp.to != swapped16(PORT) || !zone.open) return PASS;
    struct request *request = (struct request *)datagram;
    struct asked asked = {};
    if (!read_question(request, &asked, end_of(message))) return PASS;
    if (asked.type == OTHER || asked.type == BELOW || asked.type == TYPE_OPT) return PASS;
    if (asked.type >= FIRST_META && asked.type <= LAST_META) return PASS;

    u64 skipped = 0;
    struct found it = found(asked.hash, asked.type);
    if (it.how == NOT_THERE) it = found(asked.hash, OTHER);
    if (it.how == NOT_THERE) {
        it = found(asked.below_hash, BELOW);
        skipped = asked.first;
    }
    if (it.how != FOUND || !is_of(it.slot, request, &asked, skipped, end_of(message))) return PASS;
    return answer_from(message, it.slot, &asked, skipped);
}
