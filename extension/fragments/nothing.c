/* Wants nothing: what any handler costs at least. */
#include <drystone/handler.h>

HANDLER nothing(struct message *message) { return PASS; }
