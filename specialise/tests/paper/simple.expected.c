#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }

void simple_special(void);
void init(void *, uint32_t);

extern uint8_t A[1];
extern uint8_t B[2];
extern uint8_t H[1];
extern uint8_t K[1];
extern uint8_t E[4];
extern uint32_t Dyn;

/* simple, specialised */
void simple_special(void)
{
    init(A, 1);
    init(B, 2);
    init(H, 1);
    init(K, 1);
    uint16_t x = load_u16(B);
    E[1] = A[0];
    store_u16((void *)E + 2, x);
    E[0] = Dyn == 0 ? K[0] : H[0];
}
