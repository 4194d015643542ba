#include "checks.h"

#ifndef MBUF_SIZE
#define MBUF_SIZE 112
#define NAME minimum
#endif

struct mbuf {
    struct mbuf *next;
    char buf[MBUF_SIZE];
};

struct { unsigned rm_xid, rest[5]; } extern call_msg;
struct { int i1, i2; } extern values;

void NAME(int x, int y);
void SPECIAL(NAME)(int x, int y);

static struct mbuf pool[8];
static unsigned used;

/* Gives out mbufs of a pool that it keeps, which is how what is sent can be seen. */
void MGET(struct mbuf **m) {
    *m = &pool[used++];
}

struct seen {
    unsigned used, next[8];
    char buf[8][MBUF_SIZE];
    char call_msg[24], values[8];
};

static void run(void (*minimum)(int, int), int x, int y, unsigned xid, struct seen *seen) {
    memset(seen, 0, sizeof *seen);
    memset(pool, 0x55, sizeof pool);
    used = 0;
    call_msg.rm_xid = xid;
    minimum(x, y);
    seen->used = used;
    for (unsigned i = 0; i < used; i++) {
        seen->next[i] = pool[i].next ? 1 + (unsigned)(pool[i].next - pool) : 0;
        memcpy(seen->buf[i], pool[i].buf, sizeof pool[i].buf);
    }
    memcpy(seen->call_msg, &call_msg, 24);
    memcpy(seen->values, &values, 8);
}

int main(void) {
    static struct seen original, special;
    for (int round = 0; round < 20; round++) {
        int x = (int)next(), y = (int)next();
        unsigned xid = next();
        run(NAME, x, y, xid, &original);
        run(SPECIAL(NAME), x, y, xid, &special);
        same("what is sent", &original, &special, sizeof original);
        unsigned shown = MBUF_SIZE < 32 ? MBUF_SIZE : 32;
        for (unsigned i = 0; i < special.used; i++) show("mbuf", special.buf[i], shown);
    }
}
