/* What the C compiler makes, for calls to and from it. */
#include "calls.h"
#include <stdarg.h>
int64_t foreign_number = -42;
int64_t foreign_narrow(int8_t a, uint8_t b, int16_t c, uint16_t d, _Bool e, char f, int8_t g, uint8_t h) {
    return a + b * 3ll + c * 5ll + d * 7ll + e * 11ll + f * 13ll + g * 17ll + h * 19ll;
}
int8_t foreign_byte(int64_t a) { return (int8_t)(a >> 3); }
_Bool foreign_truth(uint64_t a) { return (a >> 5) & 1; }
struct two foreign_two(struct two t, uint64_t k) { return (struct two){t.b + k, t.a ^ k}; }
struct mixed foreign_mixed(struct mixed m, int k) { return (struct mixed){m.d * k, m.i - k}; }
struct small foreign_small(struct small s) { return (struct small){s.a * 2, !s.b, (char)(s.c + 1)}; }
struct large foreign_large(struct large l, int k, struct odd o) {
    for (int i = 0; i < 5; i++) l.a[i] = l.a[i] * 3 + (uint64_t)k + (uint64_t)o.bytes[i * 4];
    l.b ^= (uint8_t)o.bytes[20];
    return l;
}
struct doubles foreign_doubles(struct doubles d, float f) { return (struct doubles){d.y * f, d.x - f}; }
double foreign_many(double a, float b, int c, double d, uint64_t e, double f, double g, double h, double i, double j,
                    double k, int8_t l, uint64_t m, uint64_t n, uint64_t o, double p) {
    return a + b * 2 + c * 3 + d * 4 + (double)(e & 1023) * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10 + k * 11 +
           l * 12 + (double)(m & 1023) * 13 + (double)(n & 1023) * 14 + (double)(o & 1023) * 15 + p * 16;
}
uint64_t foreign_sum(int count, ...) {
    va_list args;
    va_start(args, count);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        if (i % 3 == 1) sum = sum * 31 + (uint64_t)(int64_t)va_arg(args, double);
        else if (i % 3 == 2) sum = sum * 31 + (uint64_t)va_arg(args, int);
        else sum = sum * 31 + va_arg(args, uint64_t);
    }
    va_end(args);
    return sum;
}
unsigned __int128 foreign_wide(unsigned __int128 a, __int128 b) { return a * 3 + (unsigned __int128)(b >> 5); }
uint64_t foreign_calls(uint64_t a, int8_t (*narrow)(int8_t, uint16_t, _Bool), struct two (*two)(struct two, int32_t),
                       struct large (*large)(struct large, struct odd, double), _Bool (*truth)(uint64_t)) {
    uint64_t h = (uint64_t)narrow((int8_t)a, (uint16_t)(a >> 9), a >> 63);
    struct two t = two((struct two){a, h}, (int32_t)a);
    h = h * 31 + t.a; h = h * 31 + t.b;
    struct odd o; for (int i = 0; i < 21; i++) o.bytes[i] = (char)(a >> i);
    struct large l = large((struct large){{a, h, 3, 4, 5}, (uint8_t)a}, o, (double)(a & 0xffff));
    for (int i = 0; i < 5; i++) h = h * 31 + l.a[i];
    return h * 31 + l.b + truth(a);
}
