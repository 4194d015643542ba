/* Names of which a program may run with another definition, or none: what is known of them here must not be used. */

__attribute__((weak)) const int limit = 3;
__attribute__((weak)) int scale(int x) { return 2 * x; }
static int plain_step(int x) { return x + 1; }
int step(int x) __attribute__((weak, alias("plain_step")));
static const int plain_table[4] = { 1, 2, 3, 4 };
extern const int table[4] __attribute__((weak, alias("plain_table")));
extern int missing(int x) __attribute__((weak));
extern const int absent __attribute__((weak));
inline int same(int x) { return x ^ 5; }

int entry(int x) {
    int result = scale(x) + step(x) * 10 + limit * 100 + table[2] * 1000 + same(x) * 100000;
    if (missing) result += missing(x);
    if (&absent) result += absent;
    if (scale == step) result = -result;
    return result;
}
