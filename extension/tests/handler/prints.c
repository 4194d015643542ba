/* Calls a helper function that Linux lends to programs under the GPL only; nothing is said of this one's licence. */
#include <drystone/handler.h>

static s64 (*const print)(const char *format, u32 length, ...) = (void *)6;

HANDLER prints(struct message *message) {
    const char format[] = "%d bytes";
    print(format, sizeof format, length_of(message));
    return PASS;
}
