#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t load_u8(const void *p) { uint8_t v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u16(void *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void store_u8(void *p, uint8_t v) { memcpy(p, &v, sizeof v); }

uint32_t instantiation_special(void *, void *, uint32_t, void *);

/* instantiation, specialised */
uint32_t instantiation_special(void *options, void *in, uint32_t length, void *out)
{
    if (length > 64) {
        return 0;
    }
    store_u8(out, length >> 8);
    store_u8(out + 1, length);
    if (length == 0) {
        store_u16(out + 2, 0);
        return 4;
    }
    uint64_t wide_trip_count = length;
    uint64_t i = 0;
    uint32_t sum = 0;
    do {
        void *arrayidx31 = in + i;
        store_u8(out + ((i + 4) & 0xffffffffu), load_u8(arrayidx31));
        sum += load_u8(arrayidx31);
        i++;
    } while (i != wide_trip_count);
    store_u8(out + 2, sum >> 8);
    store_u8(out + 3, sum);
    return length + 4;
}
