#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void *load_ptr(const void *p) { void *v; memcpy(&v, p, sizeof v); return v; }
static inline void store_ptr(void *p, void *v) { memcpy(p, &v, sizeof v); }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }

void minimum_fragments_special(uint32_t, uint32_t);
void MGET(void *);

extern uint8_t values[];
extern uint8_t call_msg[];

/* minimum_fragments, specialised */
void minimum_fragments_special(uint32_t x, uint32_t y)
{
    _Alignas(8) char m[8];
    store_u32(values, x);
    store_u32((void *)values + 4, y);
    store_u32((void *)call_msg + 4, 0);
    store_u32((void *)call_msg + 8, 2);
    store_u32((void *)call_msg + 12, 536871065);
    store_u32((void *)call_msg + 16, 1);
    uint32_t inc = load_u32(call_msg) + 1;
    store_u32(call_msg, inc);
    store_u32((void *)call_msg + 20, 1);
    MGET(m);
    store_ptr(load_ptr(m), NULL);
    void *l = load_ptr(m);
    store_u32(l + 8, inc);
    store_u32(l + 12, 0);
    store_u32(l + 16, 2);
    store_u32(l + 20, 536871065);
    store_u16(l + 24, 1);
    MGET(m);
    store_ptr(load_ptr(m), l);
    void *p = load_ptr(m);
    store_u16(p + 8, 0);
    store_u32(p + 10, 1);
    store_u64(p + 14, x | ((uint64_t)y << 32));
}
