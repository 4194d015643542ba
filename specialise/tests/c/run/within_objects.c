/* Pointers that stay within their objects, however the sum that leads to them is put together. */
#include <stdio.h>
#include <string.h>

static char buffer[64];

__attribute__((noinline)) static char *before(char *end, int more) { return end + (-1 << more) + 15; }

__attribute__((noinline)) static int back(const int *table, long i, long j) { return table[4 * i - 3 * j + 2]; }

__attribute__((noinline)) static char middle(unsigned char i, unsigned long by) { return buffer[by - i + 1]; }

int main(void) {
    int table[16];
    for (int i = 0; i < 16; i++) table[i] = i * i;
    for (int i = 0; i < 64; i++) buffer[i] = (char)(i * 3);
    for (int more = 0; more < 4; more++) printf("%d ", (int)(before(buffer, more) - buffer));
    printf("%d %d %d\n", back(table, 3, 4), back(table, 0, 0), back(table, 2, 3));
    printf("%d %d\n", middle(60, 70), middle(0, 3));
    return 0;
}
