/* filter: for 1, 10, 100 and 1000 filters that differ in a port, or in an address and a port, how many ns libpcap's bpf_filter takes
   to find whose a packet is, asking one after the other. As extension/examples/demux.rs: the same filters, packets and order.
   cc -O2 -o filter filter.c -lpcap */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PACKETS = 1000, BYTES = 64, MOST = 1000 };

static unsigned char packets[PACKETS][BYTES];
static struct bpf_program filters[MOST];
/* So that it is looked for. */
volatile int found;

static void say(char *expression, int number, int with_address) {
    if (with_address)
        sprintf(expression, "ip and src host 10.0.%d.%d and udp dst port %d", number >> 8, number & 255, 1000 + number % 7);
    else
        sprintf(expression, "ip and udp dst port %d", 1000 + number);
}

static void fill(unsigned char *packet, int number, int with_address) {
    int port = 1000 + (with_address ? number % 7 : number);
    memset(packet, 0, BYTES);
    packet[12] = 8;
    packet[14] = 0x45;
    packet[23] = 17;
    packet[26] = 10;
    packet[28] = with_address ? number >> 8 : 0;
    packet[29] = with_address ? number & 255 : 1;
    packet[36] = port >> 8;
    packet[37] = port & 255;
}

static int find(const unsigned char *packet, int count) {
    for (int at = 0; at < count; at++)
        if (bpf_filter(filters[at].bf_insns, packet, BYTES, BYTES)) return at;
    return -1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(int count, int with_address) {
    enum { ROUNDS = 31 };
    double rounds[ROUNDS];
    for (int at = 0; at < PACKETS; at++) {
        int number = at * 617 % 1000 % count;
        fill(packets[at], number, with_address);
        if (find(packets[at], count) != number) {
            fprintf(stderr, "packet %d isn't found\n", at);
            exit(1);
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int at = 0; at < PACKETS; at++) found = find(packets[at], count);
        rounds[round] = (now() - begin) / PACKETS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    return rounds[ROUNDS / 2];
}

int main(void) {
    pcap_t *ethernet = pcap_open_dead(DLT_EN10MB, 65535);
    printf("%-34s%9d%9d%9d%9d%11s\n", "bpf_filter, one after the other", 1, 10, 100, 1000, "1000 : 1");
    for (int with_address = 0; with_address < 2; with_address++) {
        double times[4];
        for (int number = 0; number < MOST; number++) {
            char expression[100];
            say(expression, number, with_address);
            if (pcap_compile(ethernet, &filters[number], expression, 1, PCAP_NETMASK_UNKNOWN)) {
                fprintf(stderr, "%s: %s\n", expression, pcap_geterr(ethernet));
                return 1;
            }
        }
        for (int at = 0, count = 1; at < 4; at++, count *= 10) times[at] = measure(count, with_address);
        printf("%-34s", with_address ? "address and port" : "port");
        for (int at = 0; at < 4; at++) printf("%9.2f", times[at]);
        printf("%11.2f\n", times[3] / times[0]);
    }
    return 0;
}
