/* A switch over more bits than a register has. */
#include <stdio.h>

typedef unsigned __int128 wide;

static wide of(unsigned long high, unsigned long low) { return (wide)high << 64 | low; }

__attribute__((noinline)) static int which(unsigned long high, unsigned long low) {
    switch (of(high, low)) {
    case 0: return 1;
    case (wide)1 << 64: return 2;
    case (wide)2 << 64 | 1: return 3;
    case ~(wide)0: return 4;
    default: return 5;
    }
}

/* Chains of comparisons, which clang makes a switch of. */
__attribute__((noinline)) static int chain(unsigned long high, unsigned long low) {
    wide x = of(high, low);
    if (x == 0) return 1;
    if (x == (wide)1 << 64) return 2;
    if (x == ((wide)2 << 64 | 1)) return 3;
    return 4;
}

int main(void) {
    unsigned long some[] = { 0, 1, 2, 3, ~0ul };
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) printf("%d %d\n", which(some[i], some[j]), chain(some[i], some[j]));
    }
    return 0;
}
