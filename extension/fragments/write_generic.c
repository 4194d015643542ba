/* A remote write as a kernel would offer it to all: the message names a segment, an offset and a size, and may be wrong
   (*ASHs*, section V-D). */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

REGION(16);

enum { SEGMENTS = 64 };

SHARED struct {
    u32 begin, length, is_writable, padding;
} segments[SEGMENTS];

SHARED u8 memory[32768];

struct request {
    u32 segment, offset, size;
    u8 data[];
};

HANDLER write_generic(struct message *message) {
    struct request *request = begin_of(message) + 42;
    if ((void *)request->data > end_of(message)) return PASS;
    u32 segment = request->segment, offset = request->offset, size = request->size;
    if (segment >= SEGMENTS || !segments[segment].is_writable) return PASS;
    u32 length = segments[segment].length;
    if (offset > length || size > length - offset || size > 4096) return PASS;
    u32 at = segments[segment].begin + offset;
    if (at > sizeof memory - 4096) return PASS;
    return drystone_copy(memory + at, request->data, size, end_of(message)) ? PASS : DROP;
}
