#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void *down(void *, uint64_t);
void *both(void *, uint64_t, uint64_t);
void *up(void *, uint32_t);

void *down(void *end, uint64_t more)
{
    return end + ((int64_t)more + 15);
}

void *both(void *at, uint64_t i, uint64_t j)
{
    return at + (4 * (int64_t)i + 2 * (int64_t)(0 - j) + 2);
}

void *up(void *at, uint32_t i)
{
    return at + 4 * (uint64_t)i + 8;
}
