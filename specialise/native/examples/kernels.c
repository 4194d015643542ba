/* What residual code looks like: bytes turned round and put at fixed offsets, and loops over arrays. */
#include <stdint.h>
#include <string.h>
void swap_array(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    for (long i = 0; i < n; i++) out[i] = __builtin_bswap32(in[i]);
}
void swap_int_index(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    int m = (int)n;
    for (int i = 0; i < m; i++) out[i + 2] = __builtin_bswap32(in[i + 1]);
}
void sum_array(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    uint32_t sum = 0;
    for (long i = 0; i < n; i++) sum = sum * 3 + __builtin_bswap32(in[i]);
    out[0] = sum;
}
void while_loop(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    const uint32_t *end = in + n;
    while (in != end) { uint32_t v = *in++; *out++ = (v & 1) ? v >> 1 : __builtin_bswap32(v); }
}
struct request {
    uint32_t xid, kind, version, program;
    uint64_t cookie;
    uint16_t port;
    uint8_t flags, mode;
    uint32_t words[8];
};
void straight(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    for (long k = 0; k < n / 16; k++) {
        const struct request *r = (const struct request *)in;
        out[0] = __builtin_bswap32(r->xid); out[1] = __builtin_bswap32(r->kind); out[2] = __builtin_bswap32(r->version);
        out[3] = __builtin_bswap32(r->program);
        uint64_t cookie = __builtin_bswap64(r->cookie); memcpy(out + 4, &cookie, 8);
        out[6] = __builtin_bswap32(r->port); out[7] = __builtin_bswap32(r->flags); out[8] = __builtin_bswap32(r->mode);
        for (int i = 0; i < 8; i++) out[9 + i] = __builtin_bswap32(r->words[i]);
        in += 16; out += 17;
    }
}
void copies(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    for (long k = 0; k < n / 16; k++) {
        memcpy(out, in, 60); out[15] = 0; memset(out + 15, 0, 20); in += 16; out += 17;
    }
}
void pairs(uint32_t *restrict out, const uint32_t *restrict in, long n) {
    for (long i = 0; i < n / 2; i++) {
        out[2 * i] = __builtin_bswap32(in[2 * i + 1]); out[2 * i + 1] = __builtin_bswap32(in[2 * i]) + 1;
    }
}
uint32_t hundred(const uint32_t *in, uint32_t *out) {
#define STEP(i) out[i] = __builtin_bswap32(in[i] ^ in[i + 1]) + in[i + 2];
    STEP(0) STEP(3) STEP(6) STEP(9) STEP(12) STEP(15) STEP(18) STEP(21) STEP(24) STEP(27)
    return in[3] + out[5];
}
