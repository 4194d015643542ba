/* Figure 10 of the paper with mbufs so small that the message takes two of them, neither border falling on a member's.
 *
 * Vanished: what vanishes in rpc.c; two mbufs are got, one after the other, without a loop. */

#define MBUF_SIZE 18
#define NAME minimum_fragments
#include "rpc.c"
