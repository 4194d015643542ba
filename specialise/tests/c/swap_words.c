#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

void swap_words(void *, void *, uint64_t);

void swap_words(void *restrict out, void *in, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        store_u32(out + 4 * i, __builtin_bswap32(load_u32(in + 4 * i)));
    }
}
