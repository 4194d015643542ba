/* Structures by value and by pointer, unions, bit fields, arrays within structures. */
#include <stdio.h>
#include <string.h>

struct point { short x, y; };
struct shape { char name[12]; struct point corners[4]; union { double area; unsigned long bits; } u; };
struct flags { unsigned a : 3; int b : 5; unsigned long c : 40; unsigned char d; };
struct __attribute__((packed)) odd { char tag; int number; double value; };
struct large { long words[6]; };

static struct shape square(const char *name, int side)
{
    struct shape s = { .corners = { { 0, 0 }, { side, 0 }, { side, side }, { 0, side } } };
    strncpy(s.name, name, sizeof s.name - 1);
    s.u.area = (double)side * side;
    return s;
}

__attribute__((noinline)) static long sum(struct large l, int upto)
{
    long total = 0;
    for (int i = 0; i < upto; i++)
        total += l.words[i] * (i + 1);
    return total;
}

__attribute__((noinline)) static struct point turn(struct point p) { return (struct point){ -p.y, p.x }; }

static const struct odd odds[] = { { 'a', 1, 1.5 }, { 'b', -2, -2.25 }, { 'c', 1 << 30, 1e300 } };

int main(int argc, char **argv)
{
    struct shape s = square(argc > 5 ? argv[0] : "square", 7 + argc);
    struct flags f = { 5, -9, 0x123456789aULL, 200 };
    struct large l = { { 1, 2, 3, 4, 5, 6L << 33 } };
    f.b += argc;
    f.c ^= s.u.bits >> 30;
    printf("%s %g %lx\n", s.name, s.u.area, s.u.bits);
    for (int i = 0; i < 4; i++) {
        struct point p = turn(s.corners[i]);
        printf("%d,%d ", p.x, p.y);
    }
    printf("\n%u %d %lx %u\n", f.a, f.b, (unsigned long)f.c, f.d);
    for (unsigned i = 0; i < sizeof odds / sizeof *odds; i++)
        printf("%c %d %g\n", odds[i].tag, odds[i].number, odds[i].value);
    printf("%ld %ld %zu\n", sum(l, 6), sum(l, argc), sizeof(struct odd));
    return 0;
}
