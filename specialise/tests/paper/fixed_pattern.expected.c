#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

uint32_t fixed_pattern_special(void *, void *);
void transmit(void *, uint32_t);

/* fixed_pattern, specialised */
uint32_t fixed_pattern_special(void *interface, void *values)
{
    _Alignas(16) char fragment[32];
    uint8_t x = load_u8(values + 2);
    uint8_t x2 = load_u8(values + 1);
    uint8_t x3 = load_u8(values);
    uint8_t x4 = load_u8(values + 5);
    uint8_t x5 = load_u8(values + 4);
    store_u8(fragment, load_u8(values + 3));
    store_u8(fragment + 1, x);
    store_u8(fragment + 2, x2);
    store_u8(fragment + 3, x3);
    store_u16(fragment + 4, 0);
    store_u8(fragment + 6, x4);
    store_u8(fragment + 7, x5);
    store_u32(fragment + 8, load_u32(values + 6));
    transmit(fragment, 12);
    uint8_t x6 = load_u8(values + 12);
    store_u16(fragment, load_u16(values + 10));
    store_u8(fragment + 2, x6);
    store_u8(fragment + 3, 0);
    transmit(fragment, 4);
    return 16;
}
