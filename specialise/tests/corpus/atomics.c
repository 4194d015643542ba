/* Atomics, volatile, variables of a thread, constructors, weak functions, static locals. */
#include <stdatomic.h>
#include <stdio.h>

static atomic_int counter;
static _Atomic unsigned long mask = 0xff;
static __thread int own = 3;
static volatile int device;
static int started;

__attribute__((constructor)) static void start(void) { started = 41; }
__attribute__((weak)) int chosen(int n) { return n * 2; }
__attribute__((used)) static int kept(void) { return 1; }

static int next(void)
{
    static int last = 100;
    return last += 11;
}

int main(int argc, char **argv)
{
    int expected = 5;
    (void)argv;
    atomic_fetch_add(&counter, 5);
    int old = atomic_fetch_or(&mask, 0x100) == 0xff;
    int done = atomic_compare_exchange_strong(&counter, &expected, 9);
    int not_done = atomic_compare_exchange_weak_explicit(
        &counter, &expected, 10, memory_order_acq_rel, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&mask, mask + 1, memory_order_release);
    own += argc;
    device = own;
    device += device;
    printf("%d %d %d %d %d %lx\n", old, done, not_done, expected, counter, mask);
    printf("%d %d %d %d %d\n", own, device, started + argc, chosen(argc), next() + next());
    return 0;
}
