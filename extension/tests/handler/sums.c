/* The same counter for whatever port: whose a datagram is says who attaches it. */
#define ANY_PORT
#include "increment.c"
