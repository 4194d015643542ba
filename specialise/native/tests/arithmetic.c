/* Arithmetic, memory and control flow. Each t_ function is run with the same numbers as machine code of both kinds. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

#define MIX(h, v) ((h) = ((h) ^ (uint64_t)(v)) * 0x9e3779b97f4a7c15ull, (h) ^= (h) >> 29)

uint64_t t_widths(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    int8_t a8 = (int8_t)a, b8 = (int8_t)b;
    int16_t a16 = (int16_t)a, b16 = (int16_t)b;
    int32_t a32 = (int32_t)a, b32 = (int32_t)b;
    int64_t a64 = (int64_t)a, b64 = (int64_t)b;
    MIX(h, (uint8_t)(a8 + b8)); MIX(h, (uint8_t)(a8 * b8)); MIX(h, a8 >> (b & 7)); MIX(h, a8 < b8);
    MIX(h, (uint16_t)(a16 - b16)); MIX(h, a16 >> (b & 15)); MIX(h, (uint16_t)a16 >> (b & 15)); MIX(h, a16 <= b16);
    MIX(h, (uint32_t)a32 * (uint32_t)b32); MIX(h, (uint32_t)a32 << (b & 31)); MIX(h, a32 > b32);
    MIX(h, a * b); MIX(h, a64 >> (b & 63)); MIX(h, a >> (b & 63)); MIX(h, a64 >= b64);
    if (b8) { MIX(h, a8 / b8); MIX(h, a8 % b8); MIX(h, (uint8_t)a8 / (uint8_t)b8); MIX(h, (uint8_t)a8 % (uint8_t)b8); }
    if (b16) { MIX(h, a16 / b16); MIX(h, a16 % b16); }
    if (b32 && b32 != -1) { MIX(h, a32 / b32); MIX(h, a32 % b32); MIX(h, (uint32_t)a32 % (uint32_t)b32); }
    if (b && b64 != -1) { MIX(h, a64 / b64); MIX(h, a64 % b64); MIX(h, a / b); MIX(h, a % b); }
    MIX(h, a / 10); MIX(h, a64 / -7); MIX(h, a32 % 1000); MIX(h, (uint32_t)a32 / 3);
    return h;
}

uint64_t t_bits(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    MIX(h, __builtin_bswap16((uint16_t)a)); MIX(h, __builtin_bswap32(x)); MIX(h, __builtin_bswap64(a));
    MIX(h, __builtin_popcountll(a)); MIX(h, __builtin_popcount(x)); MIX(h, __builtin_parity(x));
    MIX(h, __builtin_clzll(a | 1)); MIX(h, __builtin_clz(x | 1)); MIX(h, __builtin_ctzll(a | 1ull << 63));
    MIX(h, __builtin_ctz(x | 1u << 31)); MIX(h, __builtin_ffsll((long long)a));
    MIX(h, __builtin_bitreverse32(x)); MIX(h, __builtin_bitreverse8((uint8_t)a)); MIX(h, __builtin_bitreverse64(b));
    MIX(h, x << 7 | x >> 25); MIX(h, x << (y & 31) | x >> (-y & 31)); MIX(h, a << (b & 63) | a >> (-b & 63));
    MIX(h, (uint8_t)((uint8_t)a << 3 | (uint8_t)a >> 5)); MIX(h, __builtin_rotateleft16((uint16_t)a, (uint16_t)b));
    MIX(h, a << 12 | b >> 52); MIX(h, x << 5 | y >> 27);
    return h;
}

uint64_t t_choice(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    int32_t x = (int32_t)a, y = (int32_t)b;
    MIX(h, x < y ? x : y); MIX(h, x > y ? x : y); MIX(h, a < b ? a : b); MIX(h, a > b ? a : b);
    MIX(h, (int8_t)a < (int8_t)b ? (int8_t)a : (int8_t)b); MIX(h, x < 0 ? -(uint32_t)x : (uint32_t)x);
    MIX(h, (x > y) - (x < y)); MIX(h, (a > b) - (a < b)); MIX(h, a > b ? a - b : 0); MIX(h, a + b < a ? ~0ull : a + b);
    return h;
}

uint64_t t_overflow(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    int32_t i; int64_t l; uint32_t u; uint64_t v; int16_t s; uint8_t c; int8_t d;
    MIX(h, __builtin_add_overflow((int32_t)a, (int32_t)b, &i)); MIX(h, i);
    MIX(h, __builtin_sub_overflow((int32_t)a, (int32_t)b, &i)); MIX(h, i);
    MIX(h, __builtin_mul_overflow((int32_t)a, (int32_t)b, &i)); MIX(h, i);
    MIX(h, __builtin_add_overflow((int64_t)a, (int64_t)b, &l)); MIX(h, l);
    MIX(h, __builtin_sub_overflow((int64_t)a, (int64_t)b, &l)); MIX(h, l);
    MIX(h, __builtin_mul_overflow((int64_t)a, (int64_t)b, &l)); MIX(h, l);
    MIX(h, __builtin_mul_overflow((int64_t)(int32_t)a, (int64_t)(int32_t)b, &l)); MIX(h, l);
    MIX(h, __builtin_add_overflow((uint32_t)a, (uint32_t)b, &u)); MIX(h, u);
    MIX(h, __builtin_sub_overflow((uint32_t)a, (uint32_t)b, &u)); MIX(h, u);
    MIX(h, __builtin_mul_overflow((uint32_t)a, (uint32_t)b, &u)); MIX(h, u);
    MIX(h, __builtin_mul_overflow(a, b, &v)); MIX(h, v);
    MIX(h, __builtin_mul_overflow(a >> 40, b >> 40, &v)); MIX(h, v);
    MIX(h, __builtin_add_overflow((int16_t)a, (int16_t)b, &s)); MIX(h, s);
    MIX(h, __builtin_mul_overflow((uint8_t)a, (uint8_t)b, &c)); MIX(h, c);
    MIX(h, __builtin_mul_overflow((int8_t)a, (int8_t)b, &d)); MIX(h, d);
    return h;
}

uint64_t t_wide(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    unsigned __int128 p = (unsigned __int128)a * b + a;
    __int128 q = (__int128)(int64_t)a * (int64_t)b - b;
    MIX(h, p); MIX(h, p >> 64); MIX(h, p >> (b & 127)); MIX(h, q >> (a & 127)); MIX(h, p << (a & 127)); MIX(h, q < 0);
    if (b) { MIX(h, p / b); MIX(h, p % b); MIX(h, q / (int64_t)b); MIX(h, q % (int64_t)b); }
    return h;
}

static uint64_t of_double(double d) { uint64_t u; if (d != d) return 1; memcpy(&u, &d, 8); return u; }

uint64_t t_floats(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    double x = (double)(int64_t)a / 1000.0, y = (double)b * 0.25;
    float f = (float)(int32_t)a, g = (float)(uint32_t)b;
    MIX(h, of_double(x + y)); MIX(h, of_double(x * y)); MIX(h, of_double(x - y)); MIX(h, of_double(x / y));
    MIX(h, of_double(f * g)); MIX(h, of_double(f / g)); MIX(h, of_double(-f)); MIX(h, of_double((float)x));
    MIX(h, of_double(__builtin_fabs(x))); MIX(h, of_double(__builtin_sqrt(y)));
    MIX(h, of_double(__builtin_copysign(y, x)));
    MIX(h, of_double(__builtin_floor(x))); MIX(h, of_double(__builtin_trunc(x))); MIX(h, of_double(__builtin_ceil(x)));
    MIX(h, x < y); MIX(h, x >= y); MIX(h, x == y); MIX(h, x != y);
    MIX(h, __builtin_isunordered(x, y / (double)(b & 1)));
    double n = __builtin_nan("");
    volatile double nv = n;
    MIX(h, nv < x); MIX(h, !(nv < x)); MIX(h, nv != nv); MIX(h, nv == x); MIX(h, !(nv <= x));
    MIX(h, (int64_t)(x / 16)); MIX(h, (int32_t)(x / 1e12)); MIX(h, (uint64_t)y); MIX(h, (uint32_t)(y / 1e10));
    MIX(h, (int8_t)((int8_t)a * 0.5)); MIX(h, (uint16_t)((uint16_t)a * 0.5f));
    MIX(h, of_double((double)(uint8_t)a)); MIX(h, of_double((double)(int16_t)a)); MIX(h, of_double((float)a));
    return h;
}

struct bits { unsigned a : 3; int b : 9; unsigned long long c : 40; _Bool d : 1; };
uint64_t t_bitfields(uint64_t a, uint64_t b) {
    struct bits s[2] = {{(unsigned)a, (int)b, a ^ b, a > b}, {(unsigned)b, (int)a, a + b, a < b}};
    volatile struct bits v = s[a & 1];
    v.b += 3;
    uint64_t h = 0;
    MIX(h, v.a); MIX(h, v.b); MIX(h, v.c); MIX(h, v.d); MIX(h, s[b & 1].c);
    return h;
}

uint64_t t_switch(uint64_t a, uint64_t b) {
    uint64_t h = b;
    for (int i = 0; i < 16; i++) {
        switch ((int8_t)(a >> (i * 4) & 0xff)) {
        case -128: h += 1; break;
        case -1: h *= 3; break;
        case 0: h ^= a; break;
        case 1: case 2: case 3: h = h << 3 | h >> 61; break;
        case 4: h -= i; /* falls through */
        case 5: h ^= i * 77; break;
        case 6: return h;
        case 100: h += b; break;
        default: h++;
        }
        switch (a + i) { case 0x8000000000000001ull: h ^= 5; break; case 7: h ^= 9; break; case 8: h ^= b; }
        switch ((uint32_t)b >> 28) { case 0: h += 2; break; case 1: h += 3; break; case 2: h ^= 4; break;
            case 3: h *= 5; break; case 4: h -= 6; break; case 15: h = ~h; break; default: h += i; }
    }
    return h;
}

uint64_t t_copies(uint64_t a, uint64_t b) {
    unsigned char from[160], to[160];
    for (int i = 0; i < 160; i++) {
        from[i] = (unsigned char)(a >> (i & 7)) + i; to[i] = (unsigned char)(b >> (i & 15));
    }
    uint64_t h = 0;
#define COPY(n) memcpy(to + 3, from + 5, n); memmove(to + 1, to + 4, n); memmove(to + 9, to + 2, n); \
    for (int i = 0; i < 160; i++) MIX(h, to[i]);
    COPY(1) COPY(2) COPY(3) COPY(4) COPY(5) COPY(6) COPY(7) COPY(8) COPY(9) COPY(11) COPY(12) COPY(13) COPY(15) COPY(16)
    COPY(17) COPY(20) COPY(23) COPY(25) COPY(31) COPY(32) COPY(33) COPY(47) COPY(63) COPY(64) COPY(100) COPY(128)
    COPY(140)
    memcpy(to, from, (b & 63) + 1);
#define FILL(n) memset(to + 7, (int)b, n); memset(from + 1, 0, n); memset(to + 2, 0x5a, n); \
    for (int i = 0; i < 160; i++) { MIX(h, to[i]); MIX(h, from[i]); }
    FILL(1) FILL(2) FILL(3) FILL(7) FILL(8) FILL(13) FILL(16) FILL(19) FILL(29) FILL(64) FILL(127) FILL(150)
    memset(to, (int)a, (a & 127) + 1);
    for (int i = 0; i < 160; i++) MIX(h, to[i]);
    return h;
}

static int32_t table[8] = {3, -1, 4, -1, 5, -9, 2, -6};
static const char *const names[] = {"zero", "one", "two", "three"};
static int32_t *into = &table[3];
struct node { struct node *next; uint16_t value; };
static struct node nodes[3] = {{&nodes[1], 1}, {&nodes[2], 2}, {&nodes[0], 3}};

uint64_t t_globals(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    int32_t kept = table[a & 7];
    table[a & 7] = (int32_t)b;
    MIX(h, into[(int)(b & 3)]); MIX(h, into[-1]); MIX(h, names[a & 3][b & 1]); MIX(h, strlen(names[b & 3]));
    struct node *n = nodes;
    for (uint64_t i = 0; i < (a & 31); i++) n = n->next;
    MIX(h, n->value);
    table[a & 7] = kept;
    return h;
}

__attribute__((noinline)) static uint64_t walk(const uint32_t *in, uint8_t *out, int n, long stride) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        out[i * stride] = (uint8_t)in[i]; sum += in[i] * (uint64_t)i; if (in[i] == 77) break;
    }
    return sum;
}
uint64_t t_loops(uint64_t a, uint64_t b) {
    uint32_t in[40]; uint8_t out[200] = {0}; uint64_t h = 0;
    for (int i = 0; i < 40; i++) in[i] = (uint32_t)(a * (uint64_t)(i + 1) >> (b & 31));
    MIX(h, walk(in, out, (int)(b % 40), 1 + (long)(a & 3)));
    for (int i = 0; i < 200; i++) MIX(h, out[i]);
    uint64_t x = a | 1, y = b;
    while (y) { uint64_t t = x % y; x = y; y = t; }
    MIX(h, x);
    for (int i = 0; i < 10; i++) for (int j = i; j < 10; j += 3) { if ((a >> j) & 1) continue; h += (uint64_t)(i * j); }
    return h;
}

__attribute__((noinline)) static uint64_t sum_to(const uint16_t *in, uint16_t *out, unsigned char first,
    unsigned char last) {
    uint64_t sum = 0;
    unsigned char i = first;
    do { out[i & 63] = in[i & 63] ^ i; sum = sum * 7 + in[(i * 2 + 1) & 63]; i++; } while (i != last);
    return sum + i;
}
__attribute__((noinline)) static uint64_t sum_below(const uint16_t *in, uint16_t *out, int first, int last) {
    uint64_t sum = 0;
    int i = first;
    do { sum = sum * 5 + in[i & 63]; out[(i * 4 + 3) & 63] = (uint16_t)sum; i++; } while (i < last);
    return sum * (uint64_t)i;
}
__attribute__((noinline)) static uint64_t sum_unsigned(const uint16_t *in, uint16_t *out, uint64_t last) {
    uint64_t before = 1, sum = 0;
    for (uint64_t i = 0; i < last; i++) {
        out[2 * i | 1] = in[2 * i]; out[2 * i] = in[2 * i + 1] + (uint16_t)before; sum ^= before; before = in[i] * 3u;
    }
    return sum + before;
}
uint64_t t_counted(uint64_t a, uint64_t b) {
    uint16_t in[64], out[64]; uint64_t h = 0;
    for (int i = 0; i < 64; i++) { in[i] = (uint16_t)(a >> (i & 31)) + (uint16_t)i; out[i] = (uint16_t)b; }
    MIX(h, sum_to(in, out, (unsigned char)a, (unsigned char)b)); MIX(h, sum_to(in, out, 250, (unsigned char)(a & 7)));
    MIX(h, sum_below(in, out, (int)(a & 15), (int)(b & 31))); MIX(h, sum_below(in, out, -3, (int)(a & 3) - 1));
    MIX(h, sum_below(in, out, -5, -2)); MIX(h, sum_below(in, out, 2147483640, 2147483646));
    MIX(h, sum_unsigned(in, out, b & 31)); MIX(h, sum_unsigned(in, out, 5)); MIX(h, sum_unsigned(in, out, 0));
    for (int i = 0; i < 64; i++) MIX(h, out[i]);
    for (int i = 0; i < 7; i++) { h += out[i] * 3u; out[i + 1] ^= (uint16_t)h; }
    for (int i = 2; i < 10; i++) { h += out[i] * 5u; out[i * 2] ^= (uint16_t)h; }
    return h ^ out[9] ^ out[18];
}

__attribute__((noinline)) static void swap_words(const uint32_t *restrict in, uint32_t *restrict out, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) out[i] = __builtin_bswap32(in[i]);
}
__attribute__((noinline)) static void swap_twenty(const uint32_t *restrict in, uint32_t *restrict out) {
    for (uint64_t i = 0; i < 20; i++) out[i] = __builtin_bswap32(in[i]);
}
__attribute__((noinline)) static void swap_halves(const uint16_t *restrict in, uint16_t *restrict out, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) out[i] = __builtin_bswap16(in[i]);
}
__attribute__((noinline)) static void swap_nine(const uint16_t *restrict in, uint16_t *restrict out) {
    for (int i = 0; i < 9; i++) out[i] = __builtin_bswap16(in[i]);
}
/* These may overlap. */
__attribute__((noinline)) static void swap_near(const uint32_t *in, uint32_t *out, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) out[i] = __builtin_bswap32(in[i]);
}
__attribute__((noinline)) static void swap_first(const uint32_t *in, uint32_t *out) {
    uint32_t a = in[0], b = in[1];
    out[0] = __builtin_bswap32(a); out[1] = __builtin_bswap32(b);
    out[2] = __builtin_bswap32(in[2]); out[3] = __builtin_bswap32(in[3]);
}
/* Some neighbours go together, others don't: crossed, swapped twice, kept as they are, used twice, of two widths. */
__attribute__((noinline)) static uint32_t swap_some(const uint32_t *restrict in, uint32_t *restrict out) {
    out[0] = __builtin_bswap32(in[1]); out[1] = __builtin_bswap32(in[0]);
    out[2] = __builtin_bswap32(in[2]); out[3] = in[3];
    out[4] = in[4]; out[5] = __builtin_bswap32(in[5]);
    uint32_t twice = __builtin_bswap32(in[7]);
    out[6] = __builtin_bswap32(in[6]); out[7] = twice;
    out[9] = __builtin_bswap32(in[9]); out[8] = __builtin_bswap32(in[8]);
    out[10] = __builtin_bswap32(in[10]); out[11] = __builtin_bswap32(in[11]); out[12] = __builtin_bswap32(in[12]);
    const uint16_t *halves = (const uint16_t *)(const void *)(in + 13); uint16_t *to = (uint16_t *)(void *)(out + 13);
    to[0] = __builtin_bswap16(halves[0]); to[1] = __builtin_bswap16(halves[1]);
    out[14] = __builtin_bswap32(in[14]); out[15] = __builtin_bswap32(in[15]) ^ 1;
    return twice;
}
uint64_t t_swapped(uint64_t a, uint64_t b) {
    uint32_t in[64], out[64]; uint64_t h = 0;
    for (int i = 0; i < 64; i++) {
        in[i] = (uint32_t)(a * (uint64_t)(i * 2 + 3) >> 7) ^ (uint32_t)(b << (i & 15)); out[i] = (uint32_t)b;
    }
    swap_words(in, out, b & 63); for (int i = 0; i < 64; i++) MIX(h, out[i]);
    swap_twenty(in + (a & 3), out + (b & 7)); for (int i = 0; i < 64; i++) MIX(h, out[i]);
    swap_halves((const uint16_t *)(const void *)in, (uint16_t *)(void *)out + (a & 1), (uint32_t)(a & 127));
    swap_nine((const uint16_t *)(const void *)out + (b & 1), (uint16_t *)(void *)in);
    for (int i = 0; i < 64; i++) MIX(h, out[i] ^ in[i]);
    MIX(h, swap_some(in, out)); for (int i = 0; i < 64; i++) MIX(h, out[i]);
    swap_near(out, out + (a & 3), b & 31); swap_near(out + 2, out + (a & 1), b & 31);
    for (int i = 0; i < 64; i++) MIX(h, out[i]);
    swap_first(out + 8, out + 7); swap_first(out + 16, out + 17); swap_first(out + 24, out + 22);
    swap_first(out + 32, out + 32);
    for (int i = 0; i < 64; i++) MIX(h, out[i]);
    return h;
}

/* The second loop is entered from the first one and from elsewhere, and comes first in the text. */
__attribute__((noinline)) static void either(uint32_t *restrict p, uint32_t *restrict q, uint64_t x) {
    if (x & 1) {
common:
        for (uint64_t j = 0; j < 12; j++) q[j] = q[j] * 3 + 1;
        return;
    }
    for (uint64_t i = 0; i < 12; i++) p[i] += (uint32_t)x;
    goto common;
}
uint64_t t_either(uint64_t a, uint64_t b) {
    uint32_t p[16], q[16]; uint64_t h = 0;
    for (int i = 0; i < 16; i++) { p[i] = (uint32_t)a + i; q[i] = (uint32_t)b * i; }
    either(p, q, a);
    for (int i = 0; i < 16; i++) { MIX(h, p[i]); MIX(h, q[i]); }
    return h;
}

uint64_t t_atomics(uint64_t a, uint64_t b) {
    uint64_t h = 0, cell = a, expected = a ^ (b & 1);
    uint32_t small = (uint32_t)b; uint8_t tiny = (uint8_t)a; void *pointer = &h;
    MIX(h, __atomic_fetch_add(&cell, b, __ATOMIC_SEQ_CST)); MIX(h, __atomic_fetch_or(&small, 5, __ATOMIC_RELAXED));
    MIX(h, __atomic_fetch_and(&tiny, 0x3c, __ATOMIC_ACQ_REL)); MIX(h, __atomic_exchange_n(&small, 9, __ATOMIC_ACQUIRE));
    MIX(h, __atomic_fetch_sub(&cell, b, __ATOMIC_SEQ_CST)); MIX(h, __atomic_fetch_nand(&small, 3, __ATOMIC_SEQ_CST));
    MIX(h, __atomic_compare_exchange_n(&cell, &expected, b, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); MIX(h, expected);
    MIX(h, __atomic_load_n(&cell, __ATOMIC_ACQUIRE)); __atomic_store_n(&tiny, 7, __ATOMIC_RELEASE); MIX(h, tiny);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    MIX(h, __atomic_load_n(&pointer, __ATOMIC_SEQ_CST) == &h);
    volatile uint64_t v = a; v += b; v = v * 3; MIX(h, v);
    return h;
}

uint64_t t_stack(uint64_t a, uint64_t b) {
    _Alignas(64) volatile uint8_t wide[64];
    volatile uint32_t some[5];
    for (int i = 0; i < 64; i++) wide[i] = (uint8_t)(a >> (i & 31));
    for (int i = 0; i < 5; i++) some[i] = (uint32_t)b * (uint32_t)i;
    return wide[a & 63] + some[b % 5] + ((uintptr_t)wide & 63);
}
