/* The main program of the four cases of section 3.2.2; NAME is the case. */
#include "checks.h"

void NAME(const char *in, char *out);
void SPECIAL(NAME)(const char *in, char *out);

static unsigned long seen_by_init;

void init(char *bytes, unsigned length) {
    for (unsigned i = 0; i < length; i++) {
        bytes[i] = (char)(bytes[i] % 7 * 3 + i);
        seen_by_init = seen_by_init * 31 + (unsigned char)bytes[i];
    }
}

int main(void) {
    for (int round = 0; round < 50; round++) {
        char in[8], out[2][4];
        scatter(in, sizeof in);
        memset(out, 0, sizeof out);
        seen_by_init = 1;
        NAME(in, out[0]);
        unsigned long original = seen_by_init;
        seen_by_init = 1;
        SPECIAL(NAME)(in, out[1]);
        same("out", out[0], out[1], sizeof out[0]);
        same("what init saw", &original, &seen_by_init, sizeof original);
        show("out", out[1], sizeof out[1]);
    }
}
