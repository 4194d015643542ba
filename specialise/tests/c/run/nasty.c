/* What is easily lost between phis, odd widths, signs and shared memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) unsigned fibonacci(unsigned n) { unsigned a = 0, b = 1; while (n--) { unsigned t = a; a = b; b += t; } return a; }
__attribute__((noinline)) unsigned swaps(unsigned n, unsigned a, unsigned b, unsigned c) { for (unsigned i = 0; i < n; i++) { unsigned t = a; a = b; b = c; c = t; if (a & 1) { t = a; a = b; b = t; } } return a * 100 + b * 10 + c; }
__attribute__((noinline)) unsigned gcd(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }
__attribute__((noinline)) int irreducible(int n, int where) { int sum = 0; if (where) goto middle; top: sum += n; if (sum > 1000) return sum; middle: sum += 3; n--; if (n > 0) goto top; return sum * 2; }
__attribute__((noinline)) int fall(int a, int b) { int r = 0; switch (a) { case 1: r += b; /* fall through */ case 2: r *= 3; r++; break; case 3: switch (b) { case 7: return 99; case 8: r = 5; default: r += 2; } break; case 100: r = -1; default: r -= a; } return r; }
__attribute__((noinline)) int print_fall(int a) { switch (a) { case 1: puts("one"); case 2: puts("two"); case 3: puts("three"); break; case 9: puts("nine"); case 4: puts("four"); } return a; }
struct odd { unsigned a : 24; unsigned b : 5; int c : 3; unsigned long d : 33; long e : 20; };
__attribute__((noinline)) long fields(struct odd *o, unsigned x) { o->a += x; o->b ^= x; o->c -= x; o->d *= x; o->e += -(long)x; return o->a + o->b + o->c + (long)o->d + o->e; }
__attribute__((noinline)) int signs(int8_t a, uint8_t b, int16_t c, uint16_t d, int e, unsigned f) { return (a < b) + 2 * (c < d) + 4 * ((unsigned)e < f) + 8 * (e < (int)f) + 16 * (a >> 2) + 32 * (c << 3) + (e >> 5) + (int)(f >> 5) + a / 3 + c % 7 + e / -3; }
struct pair { long x, y; };
struct big { int v[9]; };
struct small { char c; short s; int i; };
__attribute__((noinline)) struct pair turn(struct pair p) { struct pair r = { p.y, -p.x }; return r; }
__attribute__((noinline)) struct big grow(struct big b, int by) { for (int i = 0; i < 9; i++) b.v[i] = b.v[i] * by + i; return b; }
__attribute__((noinline)) struct small shrink(struct small s) { s.c++; s.s--; s.i ^= s.c; return s; }
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
static int (*const table[])(int, int) = { add, sub, mul };
static struct { const char *name; int (*f)(int, int); short k; } named[] = { { "add", add, 1 }, { "mul", mul, -2 } };
__attribute__((noinline)) int through(int which, int a, int b) { return table[which](a, b); }
__attribute__((noinline)) float bits_of(char *p) { float f; *(int *)p += 0x00800000; memcpy(&f, p, 4); return f; }
__attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__attribute__((noinline)) unsigned __int128 wide(unsigned __int128 a, uint64_t b) { return (a * b ^ (a >> 7)) + ((__int128)a >> 90) + (a / (b | 1)); }
__attribute__((noinline)) unsigned rotate(unsigned x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
__attribute__((noinline)) int counts(unsigned x, unsigned long y) { return __builtin_popcount(x) + (x ? __builtin_clz(x) : 32) + (y ? __builtin_ctzl(y) : 64) + (int)__builtin_bswap16((uint16_t)x) + (int)(__builtin_bswap64(y) >> 50); }
__attribute__((noinline)) int checked(int a, int b, unsigned c) { int r; unsigned s; if (__builtin_mul_overflow(a, b, &r)) r = -7; if (__builtin_add_overflow(c, 0xfffffff0u, &s)) s = 11; return r + (int)s; }
__attribute__((noinline)) int search(const char *p, int n) { for (int i = 0; i < n; i++) { for (int j = i + 1; j < n; j++) { if (p[i] == p[j]) return i * 100 + j; if (p[j] == '!') goto out; } } return -1; out: return -2; }
__attribute__((noinline)) double mean(const double *v, int n) { double sum = 0; for (int i = 0; i < n; i++) sum += v[i] * v[i]; return n > 0 && sum < 1e300 ? sum / n : 0; }
__attribute__((noinline)) int either(const int *a, const int *b) { if (*a > 3 || *b < 2) { puts("either"); return *a; } return *b; }
__attribute__((noinline)) int total(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int s = 0; while (n-- > 0) s = s * 3 + __builtin_va_arg(l, int); __builtin_va_end(l); return s; }
__attribute__((noinline)) void reverse(char *p) { char *q = p + strlen(p); while (p < q) { char c = *p; *p++ = *--q; *q = c; } }
volatile int shaky; int counter; static long hidden[5] = { 1, 2, 3 };
int main(int argc, char **argv)
{
    for (unsigned i = 0; i < 12; i++) printf("%u %u %u\n", fibonacci(i), swaps(i, 1, 2, 3), gcd(i * 12, 18));
    for (int i = -1; i < 5; i++) printf("%d %d\n", irreducible(i * 10, 0), irreducible(i, 1));
    for (int a = 0; a < 5; a++) { for (int b = 5; b < 10; b++) printf("%d ", fall(a, b)); printf("%d\n", fall(100, a)); }
    for (int a = 0; a < 10; a++) print_fall(a);
    struct odd o = { 0xfffff0, 7, -2, 0x123456789ul, -5 };
    for (unsigned i = 1; i < 9; i++) printf("%ld %d\n", fields(&o, i * 77), o.c);
    for (int i = -300; i < 300; i += 37) printf("%d ", signs((int8_t)i, (uint8_t)i, (int16_t)(i * 100), (uint16_t)(i * 100), i * 1000, (unsigned)i));
    struct pair p = turn((struct pair){ 3, 4 }); struct big b = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }; struct small s = shrink((struct small){ 'x', -3, 12345 });
    b = grow(b, 3); for (int i = 0; i < 9; i++) printf("%d ", b.v[i]);
    printf("\n%ld %ld %c %d %d\n", p.x, p.y, s.c, s.s, s.i);
    for (int i = 0; i < 3; i++) printf("%d ", through(i, 7, -9));
    named[argc & 1].k++; for (int i = 0; i < 2; i++) printf("%s %d %d\n", named[i].name, named[i].f(5, 6), named[i].k);
    float f = 1.5f; printf("%g %a\n", bits_of((char *)&f), (double)f);
    printf("%u\n", ackermann(2, 5));
    unsigned __int128 w = wide((unsigned __int128)0xdeadbeefcafebabeul << 64 | 12345, 987654321); printf("%lx %lx\n", (unsigned long)(w >> 64), (unsigned long)w);
    for (unsigned i = 0; i < 40; i += 13) printf("%x %d %d\n", rotate(0x80000123u + i, i), counts(i * 991, (unsigned long)i << 33), checked((int)i * 5000000, 123, i));
    printf("%d %d %d\n", search("abcdeb", 6), search("abc!", 4), search("xyz", 3));
    double v[] = { 1.5, -2.25, 1e10, 0.1 }; printf("%.17g\n", mean(v, 4));
    int x = 2, y = 5; printf("%d ", either(&x, &y)); x = 9; printf("%d ", either(&x, &y));
    printf("%d\n", total(4, 1, -2, 3, 4)); char text[] = "drystone"; reverse(text); puts(text);
    shaky = argc; shaky += 2; counter += shaky; __atomic_fetch_add(&counter, 5, __ATOMIC_SEQ_CST); hidden[argc] += counter;
    char *heap = malloc(16); memset(heap, argc, 16); printf("%d %ld %d %d\n", counter, hidden[1], heap[7], (int)sizeof argv); free(heap);
    return counter & 7;
}
