#include <stdbool.h>
#include <stdint.h>
#include <string.h>

uint32_t mix(uint32_t, uint32_t);
void use(uint32_t);

static const uint32_t table[4] = { 1, 2, 4, 8 };

uint32_t mix(uint32_t a, uint32_t b)
{
    uint64_t i = 0;
    for (;;) {
        use(table[i]);
        i++;
        if (i == 4) {
            break;
        }
        uint32_t old_a_ = b;
        b = a;
        a = old_a_;
    }
    return (uint32_t)(a + b) & 16777215;
}
