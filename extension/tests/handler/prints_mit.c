/* The same under another licence. */
#include "prints.c"

LICENSE("MIT OR Apache-2.0");
