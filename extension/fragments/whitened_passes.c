/* The same with a pass of its own for each. */
#define PASSES
#include "whitened.c"
