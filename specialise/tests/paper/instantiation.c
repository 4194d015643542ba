/* Section 2, module instantiation: "genericity usually corresponds to options interpreted by the layer. Since some of
 * these options are fixed for a given configuration of layers, they are identified as constants and thus propagated".
 *
 * Known: the options: a checksum, no compression, no encryption, big-endian lengths.
 * Vanished: the tests of options, `compress` and `encrypt` as dead code, and the buffer `scratch` that only they
 * need. */

void *memcpy(void *, const void *, unsigned long);

struct options { int checksum, compress, encrypt, big_endian; unsigned char key[16]; };

static __attribute__((noinline)) unsigned compress(unsigned char *bytes, unsigned length) {
    unsigned to = 0;
    for (unsigned i = 0; i < length; i++) {
        if (i == 0 || bytes[i] != bytes[i - 1]) bytes[to++] = bytes[i];
    }
    return to;
}

static __attribute__((noinline)) void encrypt(unsigned char *bytes, unsigned length, const unsigned char *key) {
    for (unsigned i = 0; i < length; i++) bytes[i] ^= key[i % 16];
}

unsigned instantiation(
    const struct options *options, const unsigned char *in, unsigned length, unsigned char *out
) {
    unsigned char scratch[64];
    const unsigned char *payload = in;
    if (length > sizeof scratch) return 0;
    if (options->compress || options->encrypt) {
        memcpy(scratch, in, length);
        payload = scratch;
    }
    if (options->compress) length = compress(scratch, length);
    if (options->encrypt) encrypt(scratch, length, options->key);
    out[0] = (unsigned char)(options->big_endian ? length >> 8 : length);
    out[1] = (unsigned char)(options->big_endian ? length : length >> 8);
    unsigned sum = 0;
    for (unsigned i = 0; i < length; i++) {
        out[4 + i] = payload[i];
        if (options->checksum) sum += payload[i];
    }
    out[2] = (unsigned char)(sum >> 8);
    out[3] = (unsigned char)sum;
    return length + 4;
}
