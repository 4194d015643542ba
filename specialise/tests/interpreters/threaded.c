/* Instructions that are addresses of functions, each of which does its work on the machine's state. */

struct machine;
typedef int (*handler)(struct machine *);
struct machine { const unsigned char *code; unsigned at; int accumulator, counter; char *out; unsigned written; };

static int halt(struct machine *m) { (void)m; return 0; }
static int load(struct machine *m) { m->accumulator = m->code[m->at++]; return 1; }
static int add(struct machine *m) { m->accumulator += m->code[m->at++]; return 1; }
static int scale(struct machine *m) { m->accumulator *= m->code[m->at++]; return 1; }
static int swap(struct machine *m) { int old = m->counter; m->counter = m->accumulator; m->accumulator = old; return 1; }
static int write(struct machine *m) { m->out[m->written++ & 63] = m->accumulator; return 1; }
static int back_while(struct machine *m) {
    unsigned to = m->code[m->at++];
    if (--m->counter > 0) m->at = to;
    return 1;
}

static const handler handlers[8] = { halt, load, add, scale, swap, write, back_while, halt };

int run(const unsigned char *code, int x, char *out) {
    struct machine m = { code, 0, x & 0xff, x & 15, out, 0 };
    while (handlers[m.code[m.at++] & 7](&m)) {}
    return m.accumulator * 31 + m.counter;
}

static const unsigned char straight[] = { 2, 5, 3, 3, 5, 4, 2, 1, 5, 0 };
static const unsigned char counted[] = { 4, 1, 4, 4, 2, 3, 5, 6, 4, 0 };
static const unsigned char open[] = { 2, 3, 5, 6, 0, 0 };

int known(int x, char *out) { return run(straight, x, out); }
int looping(int x, char *out) { return run(open, x, out); }

const unsigned char *const programs[] = { straight, counted, open, 0 };
