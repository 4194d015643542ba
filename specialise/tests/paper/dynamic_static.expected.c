#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t load_u64(const void *p) { uint64_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

void dynamic_static_special(void *, void *);
void init(void *, uint32_t);

/* dynamic_static, specialised */
void dynamic_static_special(void *in, void *out)
{
    _Alignas(16) char given[16];
    uint64_t x = load_u64(in);
    store_u32(given, 22630980);
    store_u64(given + 4, x);
    store_u32(given + 12, 0);
    init(given, 16);
    store_u8(out, load_u8(given + (uint64_t)((uint8_t)(x >> 16) & 15)));
}
