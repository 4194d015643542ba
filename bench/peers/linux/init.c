/* The only program of a Linux in QEMU: it measures what the kernel's primitives cost, and says it on the console, a
   line for each: a name, a space, a number. bench/src/kernel/linux.rs builds it, boots it and reads that; the last line
   is "done 0".

   QEMU counts instructions (-icount shift=0), and its time stamp counter goes by one with each: differences are
   instructions of the program and of the kernel together. But while the processor is idle the counter jumps to the next
   event, so nothing here may wait for time: where one of two waits, the other runs. Idle time is asked of the kernel
   before and after, to be sure.

   No libc: the first instruction is the program's own, and a system call is one instruction, not a library's way to
   it. */
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/ioctl.h>
#include <linux/mman.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>

typedef unsigned long u64;

/* Rounds: caches, lists of free pages and the scheduler have settled before those that count; the median is of an odd
   number of them. Those with many frames take long themselves. */
enum { WARM = 200, ROUNDS = 1001, FRAME_WARM = 5, FRAME_ROUNDS = 21 };
enum { PAGE = 4096, PAGES = WARM + ROUNDS + 1, MOST_FRAMES = 100, NO_SUCH_CALL = 9999 };

static inline long call6(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
    asm volatile("syscall"
                 : "+a"(number)
                 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return number;
}

static inline long call(long number, long a, long b, long c) {
    asm volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}

static inline u64 ticks(void) {
    u64 low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return high << 32 | low;
}

/* What is said: kept until the end, so that no console's interrupts come between what is measured. */
static char said[1 << 14];
static int length;

static void say(const char *text) {
    while (*text) said[length++] = *text++;
}

static void say_number(u64 number) {
    if (number > 9) say_number(number / 10);
    said[length++] = '0' + number % 10;
}

static void tell(const char *name, u64 number) {
    say(name);
    say(" ");
    say_number(number);
    say("\n");
}

static void flush(void) {
    call(__NR_write, 1, (long)said, length);
    length = 0;
}

static void end(void) {
    flush();
    call(__NR_exit, 0, 0, 0);
}

/* A system call that must succeed. */
static long must(const char *what, long result) {
    if (result < 0) {
        tell(what, -result);
        end();
    }
    return result;
}

/* What rounds took, in their order: most cost the same, and the median leaves out those into which a tick of the clock
   came. */
static u64 rounds[ROUNDS];
static int count;
/* Of reading the counter. */
static u64 own;

static u64 median(void) {
    for (int at = 1; at < count; at++) {
        u64 moved = rounds[at];
        int to = at;
        for (; to && rounds[to - 1] > moved; to--) rounds[to] = rounds[to - 1];
        rounds[to] = moved;
    }
    return rounds[count / 2] - own;
}

/* The median of what an operation takes; after each round `counts` is computed outside of the time: it may prepare the
   next one, and says whether this one is to be counted. */
#define MEDIAN(warm, of, operation, counts)      \
    ({                                           \
        count = -(warm);                         \
        while (count < (of)) {                   \
            u64 begin = ticks();                 \
            operation;                           \
            u64 taken = ticks() - begin;         \
            if (!(counts)) continue;             \
            if (count >= 0) rounds[count] = taken; \
            count++;                             \
        }                                        \
        median();                                \
    })
#define MEASURE(name, operation, counts) tell(name, MEDIAN(WARM, ROUNDS, operation, counts))

/* The other of two, a process or a thread; what both see; its stack. */
static volatile struct {
    int is_over;
    /* How often the other had its turn, if they only yield. */
    u64 turns;
    /* Whose turn it is, if they wait for it: 1 is the other's. */
    int turn;
} *shared;
static char stack[1 << 14] __attribute__((aligned(16)));
static volatile int is_alive;

enum { PROCESS = SIGCHLD };
enum {
    THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID
};

static int start(int kind, void (*body)(void)) {
    shared->is_over = shared->turn = 0;
    is_alive = 1;
    register volatile int *cleared asm("r10") = &is_alive;
    register void (*run)(void) asm("r8") = body;
    long id = __NR_clone;
    asm volatile("syscall\n\t"
                 "test %%eax, %%eax\n\t"
                 "jnz 1f\n\t"
                 "call *%%r8\n\t"
                 "mov %[exit], %%eax\n\t"
                 "xor %%edi, %%edi\n\t"
                 "syscall\n"
                 "1:"
                 : "+a"(id)
                 : "D"((long)kind), "S"(stack + sizeof stack), "d"(0L), "r"(cleared), "r"(run), [exit] "i"(__NR_exit)
                 : "rcx", "r11", "memory");
    return must("clone", id);
}

/* After it was told to end. */
static void wait_for(int kind, int id) {
    if (kind == PROCESS) must("wait", call6(__NR_wait4, id, 0, 0, 0, 0, 0));
    else while (is_alive) call(__NR_sched_yield, 0, 0, 0);
}

/* A byte to the other and one back: where this one reads and writes, and where the other one does. */
static int here[2], there[2];

static void answer(void) {
    char byte;
    while (call(__NR_read, there[0], (long)&byte, 1) == 1 && byte) call(__NR_write, there[1], (long)&byte, 1);
}

static void measure_round_trips(const char *name) {
    int other = start(PROCESS, answer);
    char byte = 1;
    MEASURE(name, (call(__NR_write, here[1], (long)&byte, 1), call(__NR_read, here[0], (long)&byte, 1)), 1);
    byte = 0;
    call(__NR_write, here[1], (long)&byte, 1);
    wait_for(PROCESS, other);
}

static void measure_messages(void) {
    int to[2], from[2];
    must("pipe", call(__NR_pipe, (long)to, 0, 0));
    must("pipe", call(__NR_pipe, (long)from, 0, 0));
    here[0] = from[0], here[1] = to[1], there[0] = to[0], there[1] = from[1];
    measure_round_trips("pipe");

    enum { AF_UNIX = 1, SOCK_STREAM = 1 };
    must("socketpair", call6(__NR_socketpair, AF_UNIX, SOCK_STREAM, 0, (long)to, 0, 0));
    here[0] = here[1] = to[0], there[0] = there[1] = to[1];
    measure_round_trips("socketpair");
}

static void wait_while(int turn) {
    while (shared->turn == turn) call6(__NR_futex, (long)&shared->turn, FUTEX_WAIT, turn, 0, 0, 0);
}

static void hand_over(int turn) {
    shared->turn = turn;
    call6(__NR_futex, (long)&shared->turn, FUTEX_WAKE, 1, 0, 0, 0);
}

static void take_turns(void) {
    for (wait_while(0); !shared->is_over; wait_while(0)) hand_over(0);
}

static void measure_handover(const char *name, int kind) {
    int other = start(kind, take_turns);
    MEASURE(name, (hand_over(1), wait_while(1)), 1);
    shared->is_over = 1;
    hand_over(1);
    wait_for(kind, other);
}

static void yield(void) {
    while (!shared->is_over) {
        shared->turns++;
        call(__NR_sched_yield, 0, 0, 0);
    }
}

/* Whether the other had its turn just once since this was asked: the scheduler may let one go on that yields, to be
   fair. */
static int was_once(void) {
    static u64 seen;
    u64 turns = shared->turns - seen;
    seen = shared->turns;
    return turns == 1;
}

static void measure_yields(const char *name, int kind) {
    int other = start(kind, yield);
    MEASURE(name, call(__NR_sched_yield, 0, 0, 0), was_once());
    shared->is_over = 1;
    wait_for(kind, other);
}

/* As the kernel has it. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    u64 flags;
    void (*restorer)(void);
    u64 mask;
};

asm("restore: mov $15, %eax\n\tsyscall");
_Static_assert(__NR_rt_sigreturn == 15, "the number in restore");
void restore(void);

static void handle(int signal, void (*handler)(int, siginfo_t *, void *)) {
    struct action action = {handler, SA_SIGINFO | 0x04000000 /* SA_RESTORER */, restore, 0};
    must("sigaction", call6(__NR_rt_sigaction, signal, (long)&action, 0, sizeof action.mask, 0, 0));
}

static void nothing(int signal, siginfo_t *information, void *context) {}

static char *map(u64 size, int protection) {
    return (char *)must("mmap", call6(__NR_mmap, 0, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* Pages that are single: what comes by two megabytes at once is another matter. */
static char *map_pages(int protection) {
    char *pages = map(PAGES * PAGE, protection);
    must("madvise", call(__NR_madvise, (long)pages, PAGES * PAGE, MADV_NOHUGEPAGE));
    return pages;
}

static void unmap(void *pages, u64 size) { must("munmap", call(__NR_munmap, (long)pages, size, 0)); }

static void protect(void *page, int protection) {
    must("mprotect", call(__NR_mprotect, (long)page, PAGE, protection));
}

static void touch(char *page) { *(volatile char *)page = 1; }

static void look(char *page) { (void)*(volatile char *)page; }

/* A pager of the program's own. */
static void page_in(int signal, siginfo_t *information, void *context) {
    protect((void *)((u64)information->si_addr & -PAGE), PROT_READ | PROT_WRITE);
}

static void measure_faults(void) {
    char *pages = map_pages(PROT_READ | PROT_WRITE), *page = pages;
    MEASURE("first touch", touch(page), page += PAGE);
    /* It is there by now. */
    page = pages;
    protect(page, PROT_NONE);
    MEASURE("fault to handler", touch(page), (protect(page, PROT_NONE), 1));
    unmap(pages, PAGES * PAGE);
    page = pages = map_pages(PROT_NONE);
    MEASURE("first touch by handler", touch(page), page += PAGE);
    unmap(pages, PAGES * PAGE);
}

/* A pager that is another: Linux tells it of a page that is missing, and it has one put there. */
static int faults;

static void serve(void) {
    int is_last;
    do {
        struct uffd_msg fault;
        must("read of a fault", call(__NR_read, faults, (long)&fault, sizeof fault));
        /* Asked while the one that touched the page waits for it. */
        is_last = shared->is_over;
        struct uffdio_zeropage page = {.range = {fault.arg.pagefault.address & -PAGE, PAGE}};
        must("UFFDIO_ZEROPAGE", call(__NR_ioctl, faults, UFFDIO_ZEROPAGE, (long)&page));
    } while (!is_last);
}

static void measure_pager(const char *name, int kind) {
    char *pages = map_pages(PROT_READ | PROT_WRITE), *page = pages;
    faults = must("userfaultfd", call(__NR_userfaultfd, O_CLOEXEC, 0, 0));
    struct uffdio_api api = {.api = UFFD_API};
    must("UFFDIO_API", call(__NR_ioctl, faults, UFFDIO_API, (long)&api));
    struct uffdio_register all = {.range = {(u64)pages, PAGES * PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    must("UFFDIO_REGISTER", call(__NR_ioctl, faults, UFFDIO_REGISTER, (long)&all));
    int other = start(kind, serve);
    /* It is read: what is put there is the one page of zeroes, for all. */
    MEASURE(name, look(page), page += PAGE);
    shared->is_over = 1;
    look(page);
    wait_for(kind, other);
    call(__NR_close, faults, 0, 0);
    unmap(pages, PAGES * PAGE);
}

static void measure_frames(void) {
    MEASURE("mmap and munmap", unmap(map(PAGE, PROT_READ | PROT_WRITE), PAGE), 1);
    static char *pages[MOST_FRAMES];
    for (int most = 1; most <= MOST_FRAMES; most++) {
        u64 taken = MEDIAN(FRAME_WARM, FRAME_ROUNDS,
                           for (int at = 0; at < most; at++) touch(pages[at] = map(PAGE, PROT_READ | PROT_WRITE)), ({
                               for (int at = 0; at < most; at++) unmap(pages[at], PAGE);
                               1;
                           }));
        say("frames ");
        say_number(most);
        tell("", taken);
    }
}

/* Nanoseconds, which are ticks, in which the processor had nothing to do. */
static u64 idle(void) {
    static char text[1 << 15];
    int file = must("/proc/timer_list", call(__NR_open, (long)"/proc/timer_list", O_RDONLY, 0));
    long size = 0, more;
    while ((more = call(__NR_read, file, (long)text + size, sizeof text - 1 - size)) > 0) size += more;
    call(__NR_close, file, 0, 0);
    static const char name[] = ".idle_sleeptime";
    for (char *at = text; at < text + size; at++) {
        int same = 0;
        while (name[same] && at[same] == name[same]) same++;
        if (name[same]) continue;
        u64 number = 0;
        for (at += same; *at < '0' || *at > '9'; at++);
        for (; *at >= '0' && *at <= '9'; at++) number = number * 10 + *at - '0';
        return number;
    }
    must("no idle time in /proc/timer_list", -1);
    return 0;
}

static void measure(void) {
    u64 idle_before = idle();
    tell("idle in boot", idle_before);
    shared = (void *)must("mmap", call6(__NR_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    handle(SIGUSR1, nothing);
    handle(SIGSEGV, page_in);

    own = MEDIAN(WARM, ROUNDS, , 1);
    MEASURE("getpid", call(__NR_getpid, 0, 0, 0), 1);
    MEASURE("no such call", call(NO_SUCH_CALL, 0, 0, 0), 1);
    long self = call(__NR_getpid, 0, 0, 0);
    MEASURE("signal", call(__NR_kill, self, SIGUSR1, 0), 1);
    measure_messages();
    measure_handover("futex of threads", THREAD);
    measure_handover("futex of processes", PROCESS);
    measure_yields("yield of threads", THREAD);
    measure_yields("yield of processes", PROCESS);
    measure_faults();
    measure_pager("fault to thread", THREAD);
    measure_pager("fault to process", PROCESS);
    measure_frames();
    tell("idle while measured", idle() - idle_before);
    tell("done", 0);
    end();
}

/* Measured is a process like any other: Linux treats the first one in its own way, and tells the console of each of its
   faults. */
__attribute__((noreturn, used)) void begin(u64 booted) {
    tell("boot", booted);
    flush();
    must("mkdir", call(__NR_mkdir, (long)"/proc", 0755, 0));
    must("mount", call6(__NR_mount, (long)"proc", (long)"/proc", (long)"proc", 0, 0, 0));
    int child = must("clone", call6(__NR_clone, PROCESS, 0, 0, 0, 0, 0));
    if (!child) measure();
    wait_for(PROCESS, child);
    call6(__NR_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART, 0, 0, 0);
    for (;;);
}

/* The counter is read first; a stack as C wants it. */
asm(".globl _start\n"
    "_start:\n\t"
    "rdtsc\n\t"
    "shl $32, %rdx\n\t"
    "lea (%rax, %rdx), %rdi\n\t"
    "call begin");
