#include "checks.h"

typedef char buftype;
extern int Dyn;
extern buftype A[1], B[2], E[4], H[1], K[1];
void simple(void);
void simple_special(void);

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
    memcpy(seen.all + 7, H, 1), memcpy(seen.all + 8, K, 1);
    return seen;
}

int main(void) {
    for (unsigned long seed = 0; seed < 20; seed++) {
        struct seen original = run(simple, seed), special = run(simple_special, seed);
        same("what A, B, E, H and K hold", &original, &special, sizeof original);
        show("A B E H K", &special, 9);
    }
}
