/* Figure 10 of the paper, the RPC-like program before the analysis phase: the client skeleton, the RPC library with its
 * contiguous buffer, and the socket layer that fragments that into a chain of mbufs.
 *
 * Vanished, as in Figure 11: the buffer `iovec` with the copies to it, the calls to `clntudp_call` and `sosend`, the
 * fragmentation loop and the computation of the fragments' sizes. What is left: the members of `call_msg` and `values`
 * are set, an mbuf is got, and the 24 bytes of the header and the 8 bytes of the arguments are put into it. */

#ifndef MBUF_SIZE
#define MBUF_SIZE 112
#define NAME minimum
#endif
#define RPC_SIZE 400
#define min(a, b) ((a) < (b) ? (a) : (b))

enum { CALL = 0, MINIMUM = 1, MINIMUMPROG = 0x20000099, MINIMUMVERS = 1 };

typedef char bufelem;

struct rpc_msg {
    unsigned rm_xid;
    int rm_direction;
    unsigned cb_rpcvers;
    unsigned cb_prog;
    unsigned cb_vers;
    unsigned cb_proc;
};

struct minargs {
    int i1, i2;
};

struct mbuf {
    struct mbuf *next;
    bufelem buf[MBUF_SIZE];
};

void MGET(struct mbuf **m);
void *memcpy(void *, const void *, unsigned long);

static void copy(void *dst, const void *src, int off_d, int off_s, int len) {
    memcpy((char *)dst + off_d, (const char *)src + off_s, len);
}

struct rpc_msg call_msg;
struct minargs values;
static bufelem iovec[RPC_SIZE];         /* nobody else looks into it */

static void clntudp_call(struct rpc_msg *cmsg, struct minargs *argsp);
static void sosend(bufelem xdrs[], int len);

void NAME(int x, int y) {
    values.i1 = x;
    values.i2 = y;

    call_msg.rm_direction = CALL;
    call_msg.cb_rpcvers = 2;
    call_msg.cb_prog = MINIMUMPROG;
    call_msg.cb_vers = MINIMUMVERS;

    clntudp_call(&call_msg, &values);
}

static void clntudp_call(struct rpc_msg *cmsg, struct minargs *argsp) {
    cmsg->rm_xid++;
    cmsg->cb_proc = MINIMUM;

    copy(iovec, cmsg, 0, 0, sizeof(struct rpc_msg));
    copy(iovec, argsp, sizeof(struct rpc_msg), 0, sizeof(struct minargs));
    sosend(iovec, sizeof(struct rpc_msg) + sizeof(struct minargs));
}

static void sosend(bufelem xdrs[], int len) {
    int i = 0, sz;
    struct mbuf *m, *l;

    l = 0;
    while (i < len) {
        MGET(&m);
        m->next = l;
        l = m;
        sz = min(len - i, MBUF_SIZE);
        copy(m->buf, xdrs, 0, i, sz);
        i += MBUF_SIZE;
    }
}
