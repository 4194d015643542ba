#include "checks.h"

struct mbuf {
    struct mbuf *next;
    char buf[18];
};

struct { unsigned rm_xid, rest[5]; } extern call_msg;
struct { int i1, i2; } extern values;

void minimum_fragments(int x, int y);
void minimum_fragments_special(int x, int y);

static struct mbuf pool[8];
static unsigned used;

/* Gives out mbufs of a pool that it keeps, which is how what is sent can be seen. */
void MGET(struct mbuf **m) {
    *m = &pool[used++];
}

struct seen {
    unsigned used, next[8];
    char buf[8][18];
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
        run(minimum_fragments, x, y, xid, &original);
        run(minimum_fragments_special, x, y, xid, &special);
        same("what is sent", &original, &special, sizeof original);
        for (unsigned i = 0; i < special.used; i++) show("mbuf", special.buf[i], 18 < 32 ? 18 : 32);
    }
}
