/* What the linker alone knows: how the addresses of two variables compare. */
#include <stdint.h>
#include <stdio.h>

int g[4], h[4];
extern int strange(void) __attribute__((weak));

__attribute__((noinline)) static int together(int x) {
    return x + (&g[2] != &h[1]) + ((int)(&g[1] == &h[0]) << 1);
}

__attribute__((noinline)) static unsigned low_bits(unsigned x) {
    return x ^ ((unsigned)(uintptr_t)&g[1] & 3) ^ ((unsigned)((uintptr_t)&h[0] >> 1) & 1);
}

__attribute__((noinline)) static int chosen(int x) {
    int found = &g[3] == &h[2] ? 7 : 9;
    if (&g[1] < &h[1] && &h[1] < &g[1]) return -1;
    return x + found;
}

int main(void) {
    printf("%d %u %d\n", together(5), low_bits(8), chosen(1));
    printf("%d\n", strange == 0);
    return 0;
}
