/* Loops over arrays, which clang turns into vectors at -O2; matrices, sieves, a stack that grows. */
#include <stdio.h>
#include <stdlib.h>

#define N 64
static int a[N], b[N];
static float m[8][8];
static unsigned char sieve[1000];

__attribute__((noinline)) static long dot(const int *x, const int *y, int n)
{
    long total = 0;
    for (int i = 0; i < n; i++)
        total += (long)x[i] * y[i];
    return total;
}

__attribute__((noinline)) static void scale(float *v, int n, float by)
{
    for (int i = 0; i < n; i++)
        v[i] = v[i] * by + 1;
}

__attribute__((noinline)) static int reversed(int n)
{
    int room[n + 1];
    int total = 0;
    for (int i = n; i >= 0; i--)
        room[n - i] = i ^ 5;
    for (int i = 0; i <= n; i++)
        total = total * 3 + room[i];
    return total;
}

int main(int argc, char **argv)
{
    int count = 0, most = -1;
    (void)argv;
    for (int i = 0; i < N; i++) {
        a[i] = i * argc - 7;
        b[i] = abs(a[i]) > 20 ? i : -i;
        if (b[i] > most)
            most = b[i];
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            m[i][j] = (float)(i * j) / (float)(1 + argc);
    scale(&m[0][0], 64, 0.5f);
    for (int i = 2; i < 1000; i++) {
        if (sieve[i])
            continue;
        count++;
        for (int j = 2 * i; j < 1000; j += i)
            sieve[j] = 1;
    }
    printf("%ld %d %d %d\n", dot(a, b, N), most, count, reversed(20 + argc));
    for (int i = 0; i < 8; i++)
        printf("%g ", (double)m[i][7 - i]);
    printf("\n");
    return 0;
}
