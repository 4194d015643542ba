/* Dense, sparse and falling switches, goto, recursion, ternaries, short circuits. */
#include <stdio.h>

__attribute__((noinline)) static const char *dense(int n)
{
    switch (n) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    case 5: return "five";
    default: return "many";
    }
}

__attribute__((noinline)) static int sparse(long n)
{
    int r = 0;
    switch (n) {
    case -1: r++; /* falls through */
    case 1000000000000L: r += 10; break;
    case 'a' ... 'f': r = 3; break;
    case 77: return -77;
    }
    return r;
}

static unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int odd(unsigned n);
static int even(unsigned n) { return n == 0 || odd(n - 1); }
static int odd(unsigned n) { return n != 0 && even(n - 1); }

int main(int argc, char **argv)
{
    int i = argc - 2;
    (void)argv;
again:
    printf("%s %d\n", dense(i), sparse(i));
    if (++i < 8)
        goto again;
    printf("%d %d %d %d\n", sparse(1000000000000L), sparse('c'), sparse(77), sparse(argc - 2));
    printf("%u %d %d\n", ackermann(2, argc + 2), even(10 + argc), odd(10 + argc));
    do {
        if (i % 3 == 0)
            continue;
        if (i > 20)
            break;
        printf("%d ", i);
    } while (++i < 100);
    printf("\n");
    return 0;
}
