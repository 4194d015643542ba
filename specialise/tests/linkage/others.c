/* Takes the place of what part.c has, or declares. */

const int limit = 7;
int step(int x) { return x - 1; }
int scale(int x) __attribute__((alias("step")));
const int table[4] = { 9, 8, 7, 6 };
int missing(int x) { return x << 20; }
const int absent = 1 << 19;
