/* A handler that takes long for each datagram to port 7001, as one would that is not meant well: 8192 rounds over the
   number in it. */
#include <drystone/handler.h>

REGION(1);

SHARED struct {
    u64 sum;
} state;

HANDLER busy(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram || datagram->udp.to != swapped16(7001)) return PASS;
    u64 number = *(u64 *)datagram->data;
    for (int round = 0; round < 8192; round++) number = number * 6364136223846793005ULL + 1442695040888963407ULL;
    state.sum += number;
    return DROP;
}
