/* Calls between machine code of the two kinds. */
#include "calls.h"
#include <string.h>
#define MIX(h, v) ((h) = ((h) ^ (uint64_t)(v)) * 0x9e3779b97f4a7c15ull, (h) ^= (h) >> 29)
static uint64_t of_double(double d) { uint64_t u; if (d != d) return 1; memcpy(&u, &d, 8); return u; }

uint64_t t_narrow(uint64_t a, uint64_t b) {
    uint64_t h = (uint64_t)foreign_narrow((int8_t)a, (uint8_t)b, (int16_t)a, (uint16_t)b, a > b, (char)(a >> 8),
                                          (int8_t)(b >> 8), (uint8_t)(a >> 16));
    MIX(h, foreign_byte((int64_t)a)); MIX(h, foreign_truth(b)); MIX(h, foreign_number);
    foreign_number += (int64_t)b; MIX(h, foreign_number); foreign_number -= (int64_t)b;
    return h;
}
uint64_t t_structures(uint64_t a, uint64_t b) {
    uint64_t h = 0;
    struct two t = foreign_two((struct two){a, b}, a * 3);
    MIX(h, t.a); MIX(h, t.b);
    struct mixed m = foreign_mixed((struct mixed){(double)(int32_t)a, (int32_t)b}, (int)(b >> 40));
    MIX(h, of_double(m.d)); MIX(h, m.i);
    struct small s = foreign_small((struct small){(int32_t)a, b & 1, (char)b});
    MIX(h, s.a); MIX(h, s.b); MIX(h, s.c);
    struct odd o; for (int i = 0; i < 21; i++) o.bytes[i] = (char)(b >> i);
    struct large l = foreign_large((struct large){{a, b, a ^ b, 1, 2}, (uint8_t)a}, (int)b, o);
    for (int i = 0; i < 5; i++) MIX(h, l.a[i]);
    MIX(h, l.b);
    struct doubles d = foreign_doubles((struct doubles){(double)(int32_t)a, (double)(int32_t)b}, (float)(int16_t)a);
    MIX(h, of_double(d.x)); MIX(h, of_double(d.y));
    return h;
}
uint64_t t_many(uint64_t a, uint64_t b) {
    double x = (double)(int16_t)a, y = (double)(int16_t)b;
    return of_double(foreign_many(x, (float)y, (int)(a & 255), y, b, x + 1, x + 2, y + 3, x - y, x * 2, y * 2,
        (int8_t)b, a, b, a ^ b, x));
}
uint64_t t_variadic(uint64_t a, uint64_t b) {
    uint64_t h = foreign_sum(0);
    MIX(h, foreign_sum(1, a));
    MIX(h, foreign_sum(3, a, (double)(int32_t)b, (int)a));
    MIX(h, foreign_sum(9, a, (double)(int32_t)b, (int)a, b, 2.5, 7, a ^ b, (double)(int16_t)a, -1));
    return h;
}
uint64_t t_words(uint64_t a, uint64_t b) {
    unsigned __int128 w = foreign_wide((unsigned __int128)a << 64 | b, (__int128)(int64_t)b * (int64_t)a);
    uint64_t h = 0;
    MIX(h, w); MIX(h, w >> 64);
    return h;
}
static int8_t mine_narrow(int8_t a, uint16_t b, _Bool c) { return (int8_t)(a * 3 + b + c); }
static struct two mine_two(struct two t, int32_t k) { return (struct two){t.b - (uint64_t)(int64_t)k, t.a * 5}; }
static struct large mine_large(struct large l, struct odd o, double d) {
    l.a[2] += (uint64_t)d; l.a[4] ^= (uint64_t)o.bytes[7]; l.b += (uint8_t)o.bytes[20];
    return l;
}
static _Bool mine_truth(uint64_t a) { return a & 0x10; }
uint64_t t_back(uint64_t a, uint64_t b) {
    return foreign_calls(a ^ b, mine_narrow, mine_two, mine_large, mine_truth);
}
static uint64_t one(uint64_t a) { return a + 1; }
static uint64_t twice(uint64_t a) { return a * 2; }
static uint64_t (*const steps[])(uint64_t) = {one, twice, one};
uint64_t t_indirect(uint64_t a, uint64_t b) {
    for (int i = 0; i < 9; i++) a = steps[(b >> i) % 3](a);
    return a;
}
