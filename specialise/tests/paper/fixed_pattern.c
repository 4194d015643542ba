/* Section 2, fixed usage patterns of interfaces: "the number and size of arguments are fixed by the client server
 * interface. As a result, the size and layout of low-level messages become known."
 *
 * Known: the description of the arguments, as a stub compiler makes it: 4 bytes, 2 bytes, 8 bytes of text.
 * Vanished: the interpretation of the description (`describes`, `pad`), the loops over arguments and fragments, and the
 * buffer `packed` that the fragments are cut from. */

void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
void transmit(const unsigned char *fragment, unsigned length);

enum kind { NUMBER, SHORT, TEXT };

struct argument { unsigned kind, size; };

struct interface { unsigned count, fragment; struct argument arguments[4]; };

static unsigned pad(unsigned size) { return (size + 3) / 4 * 4; }

static unsigned describes(const struct argument *argument, const unsigned char *from, unsigned char *to) {
    switch (argument->kind) {
    case NUMBER:
        for (unsigned i = 0; i < 4; i++) to[i] = from[3 - i];
        return 4;
    case SHORT:
        to[0] = to[1] = 0;
        to[2] = from[1];
        to[3] = from[0];
        return 4;
    default:
        memset(to, 0, pad(argument->size));
        memcpy(to, from, argument->size);
        return pad(argument->size);
    }
}

int fixed_pattern(const struct interface *interface, const unsigned char *values) {
    unsigned char packed[64];
    unsigned length = 0, at = 0;
    for (unsigned i = 0; i < interface->count; i++) {
        if (length + pad(interface->arguments[i].size) > sizeof packed) return -1;
        length += describes(&interface->arguments[i], values + at, packed + length);
        at += interface->arguments[i].size;
    }
    for (unsigned sent = 0; sent < length; sent += interface->fragment) {
        unsigned char fragment[32];
        unsigned rest = length - sent < interface->fragment ? length - sent : interface->fragment;
        if (rest > sizeof fragment) return -1;
        memcpy(fragment, packed + sent, rest);
        transmit(fragment, rest);
    }
    return (int)length;
}
