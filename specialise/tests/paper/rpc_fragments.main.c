#define MBUF_SIZE 18
#define NAME minimum_fragments
#include "rpc.main.c"
