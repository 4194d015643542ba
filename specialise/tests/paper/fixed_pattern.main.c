#include "checks.h"

struct interface { unsigned count, fragment, arguments[8]; };

int fixed_pattern(const struct interface *interface, const unsigned char *values);
int fixed_pattern_special(const struct interface *interface, const unsigned char *values);

static struct { unsigned calls; unsigned char bytes[64]; unsigned length; } sent;

void transmit(const unsigned char *fragment, unsigned length) {
    sent.calls++;
    memcpy(sent.bytes + sent.length, fragment, length);
    sent.length += length;
}

int main(void) {
    struct interface interface = { 3, 12, { 0, 4, 1, 2, 2, 7 } };
    for (int round = 0; round < 20; round++) {
        unsigned char values[13];
        scatter(values, sizeof values);
        memset(&sent, 0, sizeof sent);
        int original_length = fixed_pattern(&interface, values);
        __typeof__(sent) original = sent;
        memset(&sent, 0, sizeof sent);
        int special_length = fixed_pattern_special(&interface, values);
        same("the result", &original_length, &special_length, sizeof original_length);
        same("what is sent", &original, &sent, sizeof original);
        show("sent", sent.bytes, sent.length);
    }
}
