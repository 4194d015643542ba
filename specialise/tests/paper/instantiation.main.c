#include "checks.h"

struct options { int checksum, compress, encrypt, big_endian; unsigned char key[16]; };
typedef unsigned layer(const struct options *, const unsigned char *in, unsigned length, unsigned char *out);

layer instantiation, instantiation_special;

int main(void) {
    struct options options = { 1, 0, 0, 1, { 0 } };
    for (int round = 0; round < 70; round++) {
        unsigned char in[64], out[2][68];
        unsigned length = next() % 66;
        scatter(in, sizeof in);
        scatter(options.key, sizeof options.key);
        memset(out, 0x55, sizeof out);
        unsigned original = instantiation(&options, in, length, out[0]);
        unsigned special = instantiation_special(&options, in, length, out[1]);
        same("the result", &original, &special, sizeof original);
        same("out", out[0], out[1], sizeof out[0]);
        show("out", out[1], special < 8 ? special : 8);
    }
}
