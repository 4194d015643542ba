#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

void dynamic_dynamic_special(void *, void *);
void init(void *, uint32_t);

/* dynamic_dynamic, specialised */
void dynamic_dynamic_special(void *in, void *out)
{
    _Alignas(16) char filled[16];
    _Alignas(16) char chosen[32];
    store_u8(filled, 1);
    store_u64(filled + 1, 0);
    store_u32(filled + 9, 0);
    store_u16(filled + 13, 0);
    store_u8(filled + 15, 0);
    init(filled, 16);
    store_u8(chosen, 2);
    memset(chosen + 1, 0, 31);
    init(chosen, 32);
    memcpy(chosen + (uint64_t)(load_u8(in) & 15), filled, load_u8(in + 1) & 15);
    init(chosen, 32);
    store_u8(out, load_u8(chosen + (uint64_t)(load_u8(in + 2) & 31)));
}
