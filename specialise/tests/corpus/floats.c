/* Floats of both sizes, their conversions, comparisons with what is not a number, constants of all kinds. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const float singles[] = { 0.1f, -0.0f, FLT_MIN, FLT_MAX, 1e-45f };
static const double doubles[] = { 0.1, -0.0, DBL_MIN, DBL_MAX, 5e-324, 1.0 / 3 };
static volatile float nothing = NAN;
static volatile double infinite = INFINITY;

static unsigned bits(float f)
{
    unsigned u;
    memcpy(&u, &f, sizeof u);
    return u;
}

__attribute__((noinline)) static double poly(double x) { return ((3.5 * x - 1.25) * x + 7) / (x - 0.5); }

int main(int argc, char **argv)
{
    float f = (float)argc * 1.1f;
    double d = argc + 0.7;
    (void)argv;
    for (unsigned i = 0; i < sizeof singles / sizeof *singles; i++)
        printf("%08x %g\n", bits(singles[i]), (double)singles[i]);
    for (unsigned i = 0; i < sizeof doubles / sizeof *doubles; i++)
        printf("%a\n", doubles[i]);
    printf("%d %d %d %d\n", nothing == nothing, nothing != nothing, nothing < 1, !(nothing >= 1));
    printf("%g %g %d\n", infinite, -infinite, infinite > 1e308);
    printf("%a %a %a\n", (double)f, d, poly(d));
    printf("%d %u %ld %lu %d\n", (int)-d, (unsigned)d, (long)(d * 1e15), (unsigned long)(d * 1e15), (signed char)f);
    printf("%g %g %g\n", (double)(argc - 5), (double)(unsigned)(argc - 5), (double)(float)0x123456789aL);
    printf("%g %g %g\n", fabs(-d), sqrt(d), fmod(d * 10, 3));
    printf("%d %d %d\n", f < d, f > d, (f > 1) + (d <= 1.7));
    return 0;
}
