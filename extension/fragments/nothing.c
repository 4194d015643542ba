/* Wants nothing: what any handler costs at least. */
#include <drystone/handler.h>

LICENSE("MIT OR Apache-2.0");

HANDLER nothing(struct message *message) { return PASS; }
