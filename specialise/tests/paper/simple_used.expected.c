#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

void simple_used_special(void);
void init(void *, uint32_t);

extern uint8_t A[1];
extern uint8_t B[2];
extern uint8_t H[1];
extern uint8_t K[1];
extern uint8_t E[4];
extern uint32_t Dyn;
extern uint8_t F[4];

/* simple_used, specialised */
void simple_used_special(void)
{
    init(A, 1);
    init(B, 2);
    init(H, 1);
    init(K, 1);
    uint8_t x = A[0];
    uint16_t x2 = load_u16(B);
    E[1] = x;
    store_u16((void *)E + 2, x2);
    uint8_t storemerge = Dyn == 0 ? K[0] : H[0];
    E[0] = storemerge;
    store_u32(F, storemerge | ((uint32_t)x << 8) | ((uint32_t)x2 << 16));
}
