// What a C compiler makes of the same work: `bench/src/handlers/pipes.rs` compiles and calls it.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t fold(uint64_t sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    return (uint32_t)((sum & 0xffffffff) + (sum >> 32));
}

void copy(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes) { memcpy(to, from, bytes); }

// Of whole words of 32 bits, as in the paper; two of them at once, so that the sums need not be widened.
uint32_t sum(const uint64_t *from, size_t bytes) {
    uint64_t low = 0, high = 0;
    for (size_t at = 0; at < bytes / 8; at++) {
        low += (uint32_t)from[at];
        high += from[at] >> 32;
    }
    return fold((low & 0xffffffff) + (low >> 32) + (high & 0xffffffff) + (high >> 32));
}

void swap(uint32_t *words, size_t bytes) {
    for (size_t at = 0; at < bytes / 4; at++) words[at] = __builtin_bswap32(words[at]);
}

uint32_t integrated(uint64_t *restrict to, const uint64_t *restrict from, size_t bytes) {
    uint64_t low = 0, high = 0;
    for (size_t at = 0; at < bytes / 8; at++) {
        uint64_t words = from[at];
        low += (uint32_t)words;
        high += words >> 32;
        uint64_t swapped = __builtin_bswap64(words);
        to[at] = swapped << 32 | swapped >> 32;
    }
    return fold((low & 0xffffffff) + (low >> 32) + (high & 0xffffffff) + (high >> 32));
}

// The obvious way.
uint32_t integrated_plain(uint32_t *restrict to, const uint32_t *restrict from, size_t bytes) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes / 4; at++) {
        sum += from[at];
        to[at] = __builtin_bswap32(from[at]);
    }
    return fold(sum);
}
