/* The same under the GPL. */
#include "prints.c"

LICENSE("GPL");
