#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

uint32_t transact_special(void *);

extern uint32_t position;
extern uint8_t device[];

/* transact, specialised */
uint32_t transact_special(void *in)
{
    uint8_t x = load_u8(in + 3);
    uint8_t x2 = load_u8(in + 2);
    uint8_t x3 = load_u8(in + 1);
    uint8_t x4 = load_u8(in);
    uint8_t x5 = load_u8(in + 7);
    uint8_t x6 = load_u8(in + 6);
    uint8_t x7 = load_u8(in + 5);
    uint8_t x8 = load_u8(in + 4);
    uint32_t x9 = position;
    uint32_t add = x9 + 10;
    if (add > 128) {
        return 0xfffffffdu;
    }
    uint64_t idxprom23 = x9;
    store_u16((void *)device + idxprom23 + 256, 2174);
    store_u8((void *)device + idxprom23 + 258, x);
    store_u8((void *)device + idxprom23 + 259, x2);
    store_u8((void *)device + idxprom23 + 260, x3);
    store_u8((void *)device + idxprom23 + 261, x4);
    store_u8((void *)device + idxprom23 + 262, x5);
    store_u8((void *)device + idxprom23 + 263, x6);
    store_u8((void *)device + idxprom23 + 264, x7);
    store_u8((void *)device + idxprom23 + 265, x8);
    position = add;
    return 10;
}
