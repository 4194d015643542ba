/* What the main programs share: random bytes, and complaints that end the program with status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The specialised function of a program that is named by a macro. What is pasted is looked at once more, because each
 * form of it has a name of its own, for which it is a macro. */
#define SPECIAL(name) PASTE(name, _special)
#define PASTE(name, suffix) name##suffix

static unsigned long random_state = 1;

static inline unsigned next(void) {
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(random_state >> 33);
}

static inline void scatter(void *bytes, unsigned length) {
    for (unsigned i = 0; i < length; i++) ((unsigned char *)bytes)[i] = (unsigned char)next();
}

static inline void show(const char *what, const void *bytes, unsigned length) {
    printf("%s:", what);
    for (unsigned i = 0; i < length; i++) printf(" %02x", ((const unsigned char *)bytes)[i]);
    printf("\n");
}

/* Two equal runs of bytes, or the end. */
static void same(const char *what, const void *original, const void *special, unsigned length) {
    if (memcmp(original, special, length) == 0) return;
    printf("%s differs\n", what);
    show("original", original, length);
    show("specialised", special, length);
    exit(1);
}
