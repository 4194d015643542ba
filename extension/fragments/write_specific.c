/* The same among programs that trust each other: the message has the address, and is right. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

REGION(16);

SHARED u8 memory[32768];

struct request {
    u8 SHARED *to;
    u32 size;
    u8 data[];
} __attribute__((packed, aligned(4)));

HANDLER write_specific(struct message *message) {
    struct request *request = begin_of(message) + 42;
    if ((void *)request->data > end_of(message)) return PASS;
    return drystone_copy(request->to, request->data, request->size, end_of(message)) ? PASS : DROP;
}
