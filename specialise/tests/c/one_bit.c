#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool smax_bool(bool a, bool b)
{
    return a & b;
}
static inline bool smin_bool(bool a, bool b)
{
    return a | b;
}
static inline bool umax_bool(bool a, bool b)
{
    return a | b;
}
static inline bool umin_bool(bool a, bool b)
{
    return a & b;
}

uint32_t f(uint32_t, uint32_t);

uint32_t f(uint32_t x, uint32_t y)
{
    bool a = x & 1;
    bool b = y & 1;
    return umin_bool(a, b) | ((uint32_t)umax_bool(a, b) << 1) | ((uint32_t)smin_bool(a, b) << 2) | ((uint32_t)smax_bool(a, b) << 3);
}
