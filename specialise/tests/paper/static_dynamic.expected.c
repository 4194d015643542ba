#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

void static_dynamic_special(void *, void *);
void init(void *, uint32_t);

/* static_dynamic, specialised */
void static_dynamic_special(void *in, void *out)
{
    _Alignas(16) char filled[16];
    store_u8(filled, load_u8(in));
    store_u64(filled + 1, 0);
    store_u32(filled + 9, 0);
    store_u16(filled + 13, 0);
    store_u8(filled + 15, 0);
    init(filled, 16);
    uint8_t held_sroa_0_0_copyload = load_u8(filled);
    uint8_t held_sroa_511_0_copyload = load_u8(filled + 11);
    store_u8(out, load_u8(filled + 3));
    store_u8(out + 1, held_sroa_511_0_copyload);
    store_u8(out + 2, held_sroa_0_0_copyload);
}
