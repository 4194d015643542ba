#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t load_u64(const void *p) { uint64_t v; memcpy(&v, p, sizeof v); return v; }
static inline void *load_ptr(const void *p) { void *v; memcpy(&v, p, sizeof v); return v; }
static inline void store_u64(void *p, uint64_t v) { memcpy(p, &v, sizeof v); }

uint64_t entry_points_special(void *, void *, uint64_t);

/* entry_points, specialised */
uint64_t entry_points_special(void *file, void *base, uint64_t length)
{
    uint64_t x = load_u64(file);
    if (length > load_u64(file + 8) - x) {
        return 0xfffffffffffffffful;
    }
    memmove(load_ptr(file + 16) + (int64_t)x, base, length);
    store_u64(file, x + length);
    return length;
}
