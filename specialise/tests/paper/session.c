/* Section 2, session-oriented invariants: "the first stage involves the creation and initialization of a local state
 * descriptor. The second stage consists of performing transactions which include repeated interpretation of components
 * of the state descriptor. Usually, some components of this state descriptor do not change".
 *
 * Known: the descriptor `session`, which `open_session` makes, stays as it is; `position`, which changes, is apart.
 * Vanished: the interpretation of the descriptor, that is the calls through it and all that is done for sessions of
 * another mode (`put_plain`, `refuse`), and the buffer `block` that records go through. */

void *memcpy(void *, const void *, unsigned long);

enum { READ_ONLY = 1, FRAMED = 2, SWAPPED = 4 };

typedef unsigned put(unsigned char *to, const unsigned char *record, unsigned length);

struct session { unsigned mode, record, device; put *put; };

struct session session;
unsigned position;
unsigned char device[4][128];

static unsigned put_plain(unsigned char *to, const unsigned char *record, unsigned length) {
    memcpy(to, record, length);
    return length;
}

static unsigned put_framed(unsigned char *to, const unsigned char *record, unsigned length) {
    to[0] = 0x7E;
    to[1] = (unsigned char)length;
    memcpy(to + 2, record, length);
    return length + 2;
}

static int refuse(int reason) { return -reason; }

void open_session(void) {
    session.mode = FRAMED | SWAPPED;
    session.record = 8;
    session.device = 2;
    session.put = session.mode & FRAMED ? put_framed : put_plain;
}

int transact(const unsigned char *in) {
    unsigned char block[32], framed[40];
    if (session.mode & READ_ONLY) return refuse(1);
    if (session.record > sizeof block || session.device > 3) return refuse(2);
    for (unsigned i = 0; i < session.record; i++) {
        block[i] = in[session.mode & SWAPPED ? i ^ 3 : i];
    }
    unsigned length = session.put(framed, block, session.record);
    if (position + length > sizeof device[0]) return refuse(3);
    memcpy(&device[session.device][position], framed, length);
    position += length;
    return (int)length;
}
