/* Goes round for as long as the message says: hostile, if that is long. It changes the message first, and sends. */
#include <drystone/handler.h>

OUTBOX(4096);

HANDLER spin(struct message *message) {
    struct datagram *datagram = datagram_of(message, 8);
    if (!datagram) return PASS;
    u64 rounds = swapped64(*(u64 *)datagram->data), sum = 0;
    datagram->data[0] = 0xff;
    send_also(datagram, 50);
    for (u64 i = 0; i < rounds; i++) {
        sum += i;
        asm volatile("" : "+r"(sum));
    }
    *(u64 *)datagram->data = sum;
    return DROP;
}
