/* TCP's receive fast path, written once (see drystone/tcp.h). */
#include <drystone/tcp.h>

LICENSE("MIT OR Apache-2.0");

REGION(64);
RING(events, 4096);

SHARED struct stream stream;

struct segment {
    struct ethernet ethernet;
    struct ipv4 ip;
    struct tcp tcp;
    u8 data[];
} __attribute__((packed, aligned(2)));

enum { ACK = 0x10, PSH = 0x08, SHORTEST = 60, LONGEST = 1536 };

__attribute__((weak, noinline)) s32 stream_arrived(u32 at, u32 length) { return LEAVE; }

/* Whether it is the one that was predicted: it has no options and no flags but ACK and PSH, it is the next one, and it
   acknowledges what was sent, not less than before. */
INLINE int is_predicted(const struct segment *segment, u32 data) {
    const struct tcp *tcp = &segment->tcp;
    u32 acknowledged = swapped32(tcp->acknowledged);
    return tcp->words == 0x50 && (tcp->flags & ~PSH) == ACK && swapped32(tcp->sequence) == (u32)stream.next &&
           acknowledged - (u32)stream.acknowledged <= (u32)stream.sent - (u32)stream.acknowledged &&
           (data > 0 || acknowledged != (u32)stream.acknowledged || swapped16(tcp->window) != stream.window);
}

INLINE u64 sum_of_head(const struct segment *segment, u32 data) {
    u64 sum = sum_of_addresses(&segment->ip, sizeof segment->tcp + data);
#pragma unroll
    for (u32 i = 0; i < sizeof segment->tcp / 2; i++) sum += ((const u16 *)&segment->tcp)[i];
    return sum;
}

/* Copies the data to where it belongs, round the end of the buffer, and sums it up in the same pass. */
INLINE s64 put_down(const struct segment *segment, u32 data, const u8 *end) {
    u32 at = stream.come & (COMING - 1), first = COMING - at;
    if (first >= data) return drystone_copy_sum(stream.coming + at, segment->data, data, end);
    s64 sum = drystone_copy_sum(stream.coming + at, segment->data, first, end);
    u32 behind = data - first;
    /* Linux doesn't know it. */
    asm volatile("" : "+r"(behind));
    if (behind > LONGEST) return -22;
    s64 rest = drystone_copy_sum(stream.coming, segment->data + first, behind, end);
    if (sum < 0 || rest < 0) return -22;
    /* Behind an odd number of bytes all others have changed their places in words. */
    return sum + (first & 1 ? swapped16(rest) : rest);
}

INLINE u32 room(void) {
    u64 free = COMING - (stream.come - stream.taken);
    return free > 65535 ? 65535 : free;
}

/* An answer, and zeros behind it. */
struct answer {
    u64 words[ANSWER / 8];
};

INLINE struct answer answer_of(u32 length) {
    struct answer answer;
#pragma unroll
    for (s32 i = 0; i < ANSWER / 8; i++) {
        s32 there = (s32)length - 8 * i;
        u64 mask = there >= 8 ? -1ull : there <= 0 ? 0 : (1ull << 8 * there) - 1;
        answer.words[i] = stream.answer_words[i] & mask;
    }
    return answer;
}

/* Puts an answer among what was said, so that the library can send it again. Whether it may go at once. */
INLINE int say_answer(const struct answer *answer, u32 length) {
    u32 at = stream.said;
    int is_next = (u32)stream.sent == at && (u32)(at + length - stream.acknowledged) <= stream.window;
    /* There is room for all of it. */
#pragma unroll
    for (u32 i = 0; i < ANSWER; i++) stream.going[(at + i) & (GOING - 1)] = answer->words[i / 8] >> 8 * (i % 8);
    stream.said = (u32)(at + length);
    if (is_next) stream.sent = stream.said;
    stream.answers++;
    return is_next;
}

/* Makes the message an acknowledgement, with so many bytes of the answer. Its length is that of the shortest frame at
   least. */
INLINE int acknowledge(struct message *message, u32 sequence, const struct answer *answer, u32 length) {
    s32 there = length_of(message), wanted = sizeof(struct segment) + length;
    if (wanted < SHORTEST) wanted = SHORTEST;
    if (there != wanted && adjust_tail(message, wanted - there)) return DROP;
    if (length > 0) {
        u32 bytes = length;
        /* Verifiers want to see it here. */
        asm volatile("" : "+r"(bytes));
        if (bytes == 0 || bytes > ANSWER || put_bytes(message, sizeof(struct segment), answer, bytes)) return DROP;
    }
    struct segment *segment = begin_of(message);
    if ((void *)segment->data > end_of(message)) return DROP;
    turn_round(&segment->ethernet, &segment->ip);
    segment->ip.hops = 64;
    set_length(&segment->ip, sizeof segment->tcp + length);
    struct tcp *tcp = &segment->tcp;
    u16 port = tcp->to;
    u32 window = room();
    tcp->to = tcp->from;
    tcp->from = port;
    tcp->sequence = swapped32(sequence);
    tcp->acknowledged = swapped32(stream.next);
    tcp->words = 0x50;
    tcp->flags = length > 0 ? ACK | PSH : ACK;
    tcp->window = swapped16(window);
    tcp->checksum = tcp->urgent = 0;
    stream.told = (u32)(stream.next + window);
    u64 sum = sum_of_head(segment, length);
#pragma unroll
    for (u32 i = 0; i < ANSWER / 8; i++) sum = plus(sum, answer->words[i]);
    tcp->checksum = ~folded(sum);
    return TRANSMIT;
}

/* What is done while it is the handler's turn. */
INLINE int receive(struct message *message, u32 data) {
    struct segment *segment = begin_of(message);
    if ((void *)segment->data > end_of(message) || data > LONGEST) return PASS;
    if (!stream.is_open || !is_predicted(segment, data)) {
        stream.unexpected++;
        return PASS;
    }
    if (data > 0 && (data > room() || GOING - (u32)(stream.said - stream.acknowledged) < ANSWER)) {
        stream.behind++;
        return PASS;
    }
    s64 sum = put_down(segment, data, end_of(message));
    if (sum < 0 || folded(sum + sum_of_head(segment, data)) != 0xffff) {
        stream.unexpected++;
        return PASS;
    }
    u32 at = stream.come & (COMING - 1), sequence = stream.sent, answered = 0;
    stream.acknowledged = swapped32(segment->tcp.acknowledged);
    stream.window = swapped16(segment->tcp.window);
    stream.handled++;
    if (data == 0) return DROP;
    stream.next = (u32)(stream.next + data);
    s32 length = stream.come == stream.taken ? stream_arrived(at, data) : LEAVE;
    /* The process must never see what was consumed. */
    if (length < 0) stream.come += data;
    struct answer answer = answer_of(0);
    if (length > 0 && length <= ANSWER) {
        answer = answer_of(length);
        if (say_answer(&answer, length)) answered = length;
    }
    if (answered == 0) answer = answer_of(0);
    return acknowledge(message, sequence, &answer, answered);
}

int tcp_arrived(struct message *message, u32 length) {
    struct segment *segment = begin_of(message);
    if ((void *)segment->data > end_of(message) || length < sizeof segment->tcp) return PASS;
    u64 addresses = (u64)segment->ip.to << 32 | segment->ip.from;
    u32 ports = (u32)segment->tcp.to << 16 | segment->tcp.from;
    if (addresses != stream.addresses || ports != stream.ports) return PASS;
    if (__sync_val_compare_and_swap(&stream.turn, NOBODYS, HANDLERS) != NOBODYS) {
        stream.in_use++;
        return PASS;
    }
    int result = receive(message, length - sizeof segment->tcp);
    __sync_val_compare_and_swap(&stream.turn, HANDLERS, NOBODYS);
    if (stream.waits && result != PASS) {
        u64 come = stream.come;
        say(&events, &come, sizeof come, WAKE);
    }
    return result;
}
