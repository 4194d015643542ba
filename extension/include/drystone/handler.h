/* For handlers in C: code that runs where a message arrives, in Linux's kernel (XDP) and in Drystone's own engines. The
   book's page on handlers shows how. No other header is needed:

       clang -O2 -g -target bpf -mcpu=v3 -I... -c handler.c */
#ifndef DRYSTONE_HANDLER_H
#define DRYSTONE_HANDLER_H

#ifndef __BPF_FEATURE_ADDR_SPACE_CAST
#error "handlers take clang 19 or later, with -target bpf"
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

/* A handler: `HANDLER increment(struct message *message) { ... }`. */
#define HANDLER SECTION("xdp") int

/* The licence of the file, once in it: `LICENSE("GPL");`. Linux has helpers that only programs under the GPL may call;
   those here are for all. */
#define LICENSE(text) static const char drystone_license[] SECTION("license") = text

/* The result of a handler: what becomes of the message. */
enum {
    ABORTED = 0,  /* It is dropped, and the handler reports a fault of its own. */
    DROP = 1,     /* It is dropped: processed, or unwanted. */
    PASS = 2,     /* It is processed as if there were no handler. Undo your changes first. */
    TRANSMIT = 3, /* It goes back, as it is now, to the device that it came from. */
};

/* A message (Linux's `struct xdp_md`). */
struct message {
    u32 data, data_end, data_meta;
    u32 interface; /* The number of the device, */
    u32 queue;     /* and of its queue. */
    u32 egress;
};

/* The address of the first byte, and that behind the last one. */
INLINE void *begin_of(struct message *message) { return (void *)(u64)message->data; }
INLINE void *end_of(struct message *message) { return (void *)(u64)message->data_end; }

/* The length. (Without the `asm` the compiler would subtract 32-bit halves of addresses, which are secret.) */
INLINE u32 length_of(struct message *message) {
    u64 length = end_of(message) - begin_of(message);
    asm volatile("" : "+r"(length));
    return length;
}

/* The region: memory that the handler shares with its application, at the same addresses for both. `REGION(64)`, once
   in a file, has 64 pages, a power of two; `SHARED struct state state;` is a variable in it, `struct state SHARED *` a
   pointer to one. */
#define SHARED __attribute__((address_space(1)))
#define REGION(pages)              \
    struct {                       \
        int (*type)[33];           \
        int (*map_flags)[1 << 10]; \
        int (*max_entries)[pages]; \
    } region SECTION(".maps")

/* Tables: `TABLE(sessions, HASH, u32, struct session, 1000);`. */
enum { HASH_KIND = 1, ARRAY_KIND = 2, LRU_HASH_KIND = 9 };
#define TABLE(name, kind, key_type, value_type, most) \
    struct {                                          \
        int (*type)[kind##_KIND];                     \
        int (*max_entries)[most];                     \
        key_type *key;                                \
        value_type *value;                            \
    } name SECTION(".maps")

/* A ring of messages to the application: `RING(events, 1 << 16);` has so many bytes, a power of two, at least a page.
   */
#define RING(name, bytes)          \
    struct {                       \
        int (*type)[27];           \
        int (*max_entries)[bytes]; \
    } name SECTION(".maps")

enum { PUT_ANY = 0, PUT_NEW = 1, PUT_THERE = 2 };

static void *(*const look_up)(const void *table, const void *key) = (void *)1;
static s64 (*const put)(const void *table, const void *key, const void *value, u64 how) = (void *)2;
static s64 (*const take_out)(const void *table, const void *key) = (void *)3;
/* Nanoseconds since the machine's start. */
static u64 (*const time_now)(void) = (void *)5;
static u32 (*const random_number)(void) = (void *)7;
/* Moves the beginning or the end of the message by so many bytes; positive: it becomes shorter at its beginning, or
   longer at its end. Invalidates all pointers into it. 0: done. */
static s64 (*const adjust_head)(struct message *message, s32 by) = (void *)44;
static s64 (*const adjust_tail)(struct message *message, s32 by) = (void *)65;
/* Copies bytes to an offset in the message. They must not be in shared memory. 0: done. */
static s64 (*const put_bytes)(struct message *message, u32 offset, const void *from, u32 length) = (void *)190;
/* Sends bytes to the application. 0: done; negative: the ring is full. `how`: whether the application is woken. */
static s64 (*const say)(void *ring, const void *bytes, u64 length, u64 how) = (void *)130;
enum { WAKE_IF_ASLEEP = 0, WAKE_NOT = 1, WAKE = 2 };

INLINE u16 swapped16(u16 x) { return __builtin_bswap16(x); }
INLINE u32 swapped32(u32 x) { return __builtin_bswap32(x); }
INLINE u64 swapped64(u64 x) { return __builtin_bswap64(x); }

/* Headers, in the network's byte order. */
struct ethernet {
    u16 to[3], from[3];
    u16 type;
} __attribute__((packed, aligned(2)));

struct ipv4 {
    u8 version_and_words, service;
    u16 length, id, fragment;
    u8 hops, protocol;
    u16 checksum;
    u32 from, to;
} __attribute__((packed, aligned(2)));

struct udp {
    u16 from, to, length, checksum;
} __attribute__((packed, aligned(2)));

struct tcp {
    u16 from, to;
    u32 sequence, acknowledged;
    u8 words, flags;
    u16 window, checksum, urgent;
} __attribute__((packed, aligned(2)));

enum { TYPE_IPV4 = 0x0008, TYPE_ARP = 0x0608, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

/* A datagram over IPv4 without options. */
struct datagram {
    struct ethernet ethernet;
    struct ipv4 ip;
    struct udp udp;
    u8 data[];
} __attribute__((packed, aligned(2)));

/* The message as a datagram with at least so many bytes of data; 0 if it isn't one. */
INLINE struct datagram *datagram_of(struct message *message, u32 bytes) {
    struct datagram *datagram = begin_of(message);
    if ((void *)datagram->data + bytes > end_of(message)) return 0;
    if (datagram->ethernet.type != TYPE_IPV4 || datagram->ip.version_and_words != 0x45) return 0;
    if (datagram->ip.protocol != PROTOCOL_UDP || (datagram->ip.fragment & swapped16(0x3fff)) != 0) return 0;
    return datagram;
}

/* Exchanges the addresses of a packet, so that it goes back to its sender. */
INLINE void turn_round(struct ethernet *ethernet, struct ipv4 *ip) {
    for (u32 i = 0; i < 3; i++) {
        u16 part = ethernet->to[i];
        ethernet->to[i] = ethernet->from[i];
        ethernet->from[i] = part;
    }
    u32 address = ip->to;
    ip->to = ip->from;
    ip->from = address;
}

/* The same for a datagram. Over IPv4 a checksum of 0 means that there is none. */
INLINE int answered(struct datagram *datagram) {
    turn_round(&datagram->ethernet, &datagram->ip);
    u16 port = datagram->udp.to;
    datagram->udp.to = datagram->udp.from;
    datagram->udp.from = port;
    datagram->udp.checksum = 0;
    return TRANSMIT;
}

/* Folds a sum of words to 16 bits. */
INLINE u64 folded(u64 sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/* The sum of an IPv4 header without options; 0xffff if its checksum is right. */
INLINE u64 sum_of_header(const struct ipv4 *ip) {
    const u16 *word = (const u16 *)ip;
    u64 sum = 0;
    for (u32 i = 0; i < sizeof *ip / 2; i++) sum += word[i];
    return folded(sum);
}

/* Sets the length of the IP packet, for so many bytes of payload, and the checksum. */
INLINE void set_length(struct ipv4 *ip, u32 length) {
    ip->length = swapped16(sizeof *ip + length);
    ip->checksum = 0;
    ip->checksum = ~sum_of_header(ip);
}

/* As `answered`, for an answer with another number of bytes of data: the headers are those of a new datagram. */
INLINE int answered_with(struct datagram *datagram, u32 bytes) {
    datagram->udp.length = swapped16(sizeof datagram->udp + bytes);
    datagram->ip.service = datagram->ip.id = 0;
    datagram->ip.fragment = swapped16(0x4000);
    datagram->ip.hops = 64;
    answered(datagram);
    set_length(&datagram->ip, sizeof datagram->udp + bytes);
    return TRANSMIT;
}

/* Keeps the compiler from transforming a number or a pointer, and comparisons of it, which verifiers rely on. */
#define KEPT(number) asm volatile("" : "+r"(number))

/* Changes the length of the message at its end, or, if there is no room, at its beginning. Negative: there is none.
   Else by how many bytes the data is farther from the beginning now. Invalidates all pointers into the message. */
INLINE s32 resize(struct message *message, u32 length) {
    s32 more = length - length_of(message);
    if (more == 0 || adjust_tail(message, more) == 0) return 0;
    return adjust_head(message, -more) == 0 ? more : -28;
}

/* The same number, of which Linux's verifier knows nothing. It follows each exit of a loop separately as long as they
   differ in what it knows. `unknown` is a number that it doesn't know, from the message, say. */
INLINE u64 hidden(u64 number, u64 unknown) {
    number ^= unknown;
    KEPT(number);
    return number ^ unknown;
}

/* The same pointer, for a loop: what the verifier finds out about it there isn't applied to the original. */
#define APART(pointer, unknown) ((pointer) + (hidden(0, unknown) & 7))

/* Copies shared memory into the message, up to its end, and `most` bytes at most: for an answer that `resize` has made
   room for. */
INLINE void fill(u8 *to, const u8 SHARED *from, u64 length, u64 most, const u8 *end) {
    u64 done = 0, unknown = *(const u64 SHARED *)from;
    length = hidden(length, unknown);
    to = APART(to, unknown);
    for (; done + 8 <= length; done += 8) {
        KEPT(done);
        if (done > most - 8) return;
        u8 *at = to + done;
        KEPT(at);
        if (at + 8 > end) return;
        *(u64 *)at = *(const u64 SHARED *)(from + done);
    }
    for (; done < length; done++) {
        KEPT(done);
        if (done >= most) return;
        u8 *at = to + done;
        KEPT(at);
        if (at + 1 > end) return;
        *at = from[done];
    }
}

INLINE u64 plus(u64 sum, u64 words) { return sum + (words & 0xffffffff) + (words >> 32); }

/* Leaves a number as it is (`le32`; or `be16` twice), and has Linux's verifier forget what it knows of it: else it
   would analyse all that follows once for each number of rounds of a loop. */
#define FORGET(how, number) asm volatile("%0 = " how " %0" : "+r"(number))

/* Takes the next `bytes` bytes if the rest's length has that bit. The rest has less than eight bytes; Linux's verifier
   would follow all paths of a loop over them. */
#define TAKE_REST(bytes, type, put)         \
    if (length & bytes) {                   \
        if (from + bytes > end) return -22; \
        type part = *(const type *)from;    \
        put;                                \
        sum += part;                        \
        from += bytes;                      \
    }

/* The ring that `send_also` needs, of so many bytes, a power of two, at least a page. */
#define OUTBOX(bytes) RING(outbox, bytes)

__attribute__((weak, noinline)) s64 drystone_send(void *ring, const void *message, u64 length) {
    return say(ring, message, length, WAKE);
}

/* Sends an additional frame, a copy of these bytes. In Drystone's engines it is transmitted when the handler has
   returned, behind its answer. XDP can't send it: in the kernel it goes into the outbox, from which the process sends
   it as soon as it runs (Outbox, which a Service has). Negative if there is no room. */
#define send_also(frame, length) drystone_send(&outbox, frame, length)

/* Copies bytes of the message, which all lie before `end`, into shared memory. In Drystone's engines it is one call
   that checks its arguments once. 0: done; negative: they don't lie there. */
__attribute__((weak, noinline)) int drystone_copy(u8 SHARED *to, const u8 *from, u32 length, const u8 *end) {
    u32 done = 0;
    if (length > 65536 || from + length > end) return -22;
    /* Linux's verifier needs the check for each part, which the compiler must not remove. */
    asm volatile("" : "+r"(end));
    for (; done + 8 <= length && done < 65536; done += 8) {
        if (from + done + 8 > end) return -22;
        *(u64 SHARED *)(to + done) = *(const u64 *)(from + done);
    }
    for (; done < length && done < 65536; done++) {
        if (from + done + 1 > end) return -22;
        to[done] = from[done];
    }
    return 0;
}

/* The Internet checksum of bytes of the message, which all lie before `end`: not complemented, in the machine's byte
   order, as words of the message are. Negative: they don't lie there. In Drystone's engines it is one call. At most
   2048 bytes in the kernel, where Linux's verifier goes through all rounds of the loop. */
__attribute__((weak, noinline)) s64 drystone_sum(const u8 *from, u32 length, const u8 *end) {
    u64 sum = 0;
    u32 done = 0;
    FORGET("le32", length);
    if (length > 2048 || from + length > end) return -22;
    asm volatile("" : "+r"(end));
    for (; done + 8 <= length && done < 2048; done += 8) {
        if (from + done + 8 > end) return -22;
        sum = plus(sum, *(const u64 *)(from + done));
    }
    from += done;
    TAKE_REST(4, u32, )
    TAKE_REST(2, u16, )
    TAKE_REST(1, u8, )
    sum = folded(sum);
    FORGET("be16", sum);
    FORGET("be16", sum);
    return sum;
}

/* The same, of bytes that it copies into shared memory in the same pass. */
__attribute__((weak, noinline)) s64 drystone_copy_sum(u8 SHARED *to, const u8 *from, u32 length, const u8 *end) {
    u64 sum = 0;
    u32 done = 0;
    FORGET("le32", length);
    if (length > 2048 || from + length > end) return -22;
    asm volatile("" : "+r"(end));
    for (; done + 8 <= length && done < 2048; done += 8) {
        if (from + done + 8 > end) return -22;
        u64 words = *(const u64 *)(from + done);
        *(u64 SHARED *)(to + done) = words;
        sum = plus(sum, words);
    }
    from += done;
    to += done;
    TAKE_REST(4, u32, *(u32 SHARED *)to = part; to += 4)
    TAKE_REST(2, u16, *(u16 SHARED *)to = part; to += 2)
    TAKE_REST(1, u8, *to = part)
    sum = folded(sum);
    FORGET("be16", sum);
    FORGET("be16", sum);
    return sum;
}

/* A pipe: a function of each word of a message's data, of 8, 16, 32 or 64 bits, that returns the output word. Its
   registers are numbers of 64 bits in a structure of its name, which keep their values from one word to the next. It
   has no loops, and uses only its word and its registers:

       struct whitened { u64 key, sum; };
       PIPE(whitened, u32, word, kept) {
           kept->sum = plus_carry(kept->sum, word);
           return word ^ kept->key;
       }

   `pipe_into(whitened, to, from, length, end, &kept)` takes bytes of the message, which all lie before `end`, through
   it into shared memory, `pipe_over(whitened, from, length, end, &kept)` in place. An incomplete word at the end is
   filled up with zeros. 0: done; negative: they don't lie there. In Drystone's engines it is one call of a loop that
   processes many words at once. At most 32768 bytes in the kernel. */
enum { MOST_TAKEN = 32768 };
#define PIPE(name, word_type, word, kept)                                                            \
    _Static_assert(sizeof(struct name) % 8 == 0, "a pipe's registers are numbers of 64 bits");       \
    INLINE word_type name##_of(word_type word, struct name *kept);                                   \
    SECTION("drystone.pipe") u64 name(u64 word, struct name *kept) { return name##_of(word, kept); } \
    static const struct {                                                                            \
        u32 bits, registers;                                                                         \
    } name##_pipe SECTION("drystone.pipes") = {8 * sizeof(word_type), sizeof(struct name) / 8};      \
    __attribute__((weak, noinline)) int drystone_pipe_into_##name(                                   \
        u8 SHARED *to, const u8 *from, u32 length, const u8 *end, struct name *registers) {          \
        TAKE_THROUGH(name, word_type, SHARED, to + done)                                             \
    }                                                                                                \
    __attribute__((weak, noinline)) int drystone_pipe_over_##name(                                   \
        u8 *from, u32 length, const u8 *end, struct name *registers) {                               \
        TAKE_THROUGH(name, word_type, , at)                                                          \
    }                                                                                                \
    INLINE word_type name##_of(word_type word, struct name *kept)

#define pipe_into(name, ...) drystone_pipe_into_##name(__VA_ARGS__)
#define pipe_over(name, ...) drystone_pipe_over_##name(__VA_ARGS__)

/* The sum of two numbers of 32 bits plus its carry: the step of the Internet checksum (`folded` is its end). */
INLINE u64 plus_carry(u64 a, u64 b) {
    u64 sum = a + b;
    return (sum & 0xffffffff) + (sum >> 32);
}

/* At `may_goto` (Linux 6.9) the verifier looks at a loop only until it learns nothing new; some millions of rounds are
   allowed. */
#define TAKE_THROUGH(name, word_type, SPACE, PLACE)                             \
    const u32 bytes = sizeof(word_type);                                        \
    u32 done = 0;                                                               \
    if (length > MOST_TAKEN || from + length > end) return -22;                 \
    asm volatile("" : "+r"(end));                                               \
    for (;;) {                                                                  \
        asm goto("may_goto %l[taken]" : : : : taken);                           \
        if (done > MOST_TAKEN || done + bytes > length) break;                  \
        u8 *at = (u8 *)from + done;                                             \
        KEPT(at);                                                               \
        if (at + bytes > end) return -22;                                       \
        word_type word = *(const word_type *)at;                                \
        *(word_type SPACE *)(PLACE) = name##_of(word, registers);               \
        done = hidden(done + bytes, bytes == 1 ? word * 0x101 : word) & 0xffff; \
    }                                                                           \
taken:                                                                          \
    if (bytes == 1 || done > MOST_TAKEN || done >= length) return 0;            \
    u8 *at = (u8 *)from + done;                                                 \
    u64 rest = 0;                                                               \
    for (u32 i = 0; i < bytes - 1; i++) {                                       \
        if (done + i >= length) break;                                          \
        if (at + i + 1 > end) return -22;                                       \
        rest |= (u64)at[i] << 8 * i;                                            \
    }                                                                           \
    rest = name##_of(rest, registers);                                          \
    for (u32 i = 0; i < bytes - 1; i++) {                                       \
        if (done + i >= length) break;                                          \
        if (at + i + 1 > end) return -22;                                       \
        (PLACE)[i] = rest >> 8 * i;                                             \
    }                                                                           \
    return 0;

#endif
