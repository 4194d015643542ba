#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

void static_static_special(void *, void *);

/* static_static, specialised */
void static_static_special(void *in, void *out)
{
    store_u32(out, (((uint64_t)load_u32(in + 4) << 32) | load_u32(in)) >> 16);
}
