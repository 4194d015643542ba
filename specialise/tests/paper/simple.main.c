#include "checks.h"

#ifndef NAME
#define NAME simple
#endif

/* F can be seen in one of the programs; in the others this is one of its own that stays empty. */
#ifndef F_LINKAGE
#define F_LINKAGE static
#endif

typedef char buftype;
extern int Dyn;
extern buftype A[1], B[2], E[4], H[1], K[1];
F_LINKAGE buftype F[4];
void NAME(void);
void SPECIAL(NAME)(void);

void init(buftype v[], int len) {
    scatter(v, len);
}

struct seen { char all[16]; };

static struct seen run(void (*simple)(void), unsigned long seed) {
    random_state = seed;
    struct seen seen = { { 0 } };
    Dyn = next() & 1;
    simple();
    memcpy(seen.all, A, 1), memcpy(seen.all + 1, B, 2), memcpy(seen.all + 3, E, 4);
    memcpy(seen.all + 7, H, 1), memcpy(seen.all + 8, K, 1), memcpy(seen.all + 9, F, 4);
    return seen;
}

int main(void) {
    for (unsigned long seed = 0; seed < 20; seed++) {
        struct seen original = run(NAME, seed), special = run(SPECIAL(NAME), seed);
        same("what A, B, E, H and K hold", &original, &special, sizeof original);
        show("A B E H K", &special, 9);
    }
}
