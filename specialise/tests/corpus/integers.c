/* Integers of all widths: wrapping, shifts, division, extension, 128 bits, overflow that is asked for. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static unsigned __int128 power(unsigned long base, unsigned n)
{
    unsigned __int128 r = 1;
    while (n--)
        r *= base;
    return r;
}

static const __int128 big = -((__int128)0x0123456789abcdefL << 60);

static void show(const char *what, unsigned __int128 n)
{
    printf("%s %016lx%016lx\n", what, (unsigned long)(n >> 64), (unsigned long)n);
}

__attribute__((noinline)) static short narrow(long n) { return (short)n; }
__attribute__((noinline)) static bool both(bool a, _Bool b, unsigned char c) { return a ^ b ^ (c > 100); }
__attribute__((noinline)) static unsigned rotate(unsigned x, int n) { return x << n | x >> (32 - n); }

int main(int argc, char **argv)
{
    long overflowed;
    int small = 0;
    uint64_t x = 0x9e3779b97f4a7c15UL * (unsigned)argc;
    (void)argv;
    show("power", power(1000003, 6));
    show("big", (unsigned __int128)(big / (argc + 2)));
    show("rest", power(7, 45) % 1000000007);
    show("shift", power(3, 80) >> (argc + 63));
    printf("%d %d\n", narrow(70000 * argc), narrow(-32769));
    printf("%d %d\n", both(argc, 0, 200), both(argc, 1, (unsigned char)(argc + 255)));
    printf("%ld %ld %lu %lu\n", LONG_MIN / (argc + 1), -7L % (argc + 2), ULONG_MAX / 10, ULONG_MAX % 10);
    printf("%d %u %d\n", INT_MIN >> (argc + 3), 0x80000000u >> (argc + 3), -1 >> 1);
    printf("%d ", __builtin_add_overflow(LONG_MAX, (long)argc, &overflowed));
    printf("%ld %d %d\n", overflowed, __builtin_mul_overflow(argc, 65536 * 40000L, &small), small);
    printf("%x %d %d %d\n", rotate(0x12345678, argc + 7), __builtin_popcountl(x), __builtin_clzl(x), __builtin_ctzl(x));
    printf("%lx %hx\n", __builtin_bswap64(x), __builtin_bswap16((unsigned short)x));
    for (signed char c = 125; c > 0; c++)
        printf("%d ", c);
    printf("\n");
    return 0;
}
