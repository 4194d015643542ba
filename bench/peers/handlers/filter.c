/* filter: how many ns it takes to find whose a packet is, with so many filters that differ in a port, or in an address
   and a port. As bench/src/handlers/demultiplexer.rs: the same filters, packets and order.

       filter port|address libpcap|linux COUNT

   libpcap: bpf_filter is asked for one filter after the other. linux: all are joined by "or" in one filter, which Linux
   compiles and asks of what comes to a socket (SO_ATTACH_FILTER); it says only whether somebody wants the packet. What
   it takes to send a packet to a socket that wants nothing is taken off. */
#include <linux/filter.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { PACKETS = 1000, BYTES = 64, MOST = 1000, EXPRESSION = 100 };

static unsigned char packets[PACKETS][BYTES];
static struct bpf_program filters[MOST];
static int sockets[2];
static int count;
/* So that it is looked for. */
volatile int found;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void say(char *expression, int number, int with_address) {
    if (with_address)
        sprintf(expression, "ip and src host 10.0.%d.%d and udp dst port %d", number >> 8, number & 255,
                1000 + number % 7);
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

static void compile(struct bpf_program *filter, const char *expression) {
    pcap_t *ethernet = pcap_open_dead(DLT_EN10MB, 65535);
    if (pcap_compile(ethernet, filter, expression, 1, PCAP_NETMASK_UNKNOWN)) fail(pcap_geterr(ethernet));
}

static int find(const unsigned char *packet) {
    for (int at = 0; at < count; at++)
        if (bpf_filter(filters[at].bf_insns, packet, BYTES, BYTES)) return at;
    return -1;
}

static int deliver(const unsigned char *packet) { return send(sockets[0], packet, BYTES, 0); }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(int (*deed)(const unsigned char *)) {
    enum { ROUNDS = 31 };
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int at = 0; at < PACKETS; at++) found = deed(packets[at]);
        rounds[round] = (now() - begin) / PACKETS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    return rounds[ROUNDS / 2];
}

static void attach(struct bpf_program *filter) {
    struct sock_fprog program = {filter->bf_len, (struct sock_filter *)filter->bf_insns};
    if (setsockopt(sockets[1], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program))
        fail("Linux doesn't take the filter");
}

static double by_linux(int with_address) {
    char *all = malloc(count * EXPRESSION + EXPRESSION), *end = all;
    unsigned char copy[BYTES];
    struct bpf_program joined, nothing;
    for (int number = 0; number < count; number++) {
        char one[EXPRESSION];
        say(one, number, with_address);
        end += sprintf(end, "%s(%s)", number ? " or " : "", one);
    }
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets)) fail("no sockets");
    compile(&joined, all);
    attach(&joined);
    for (int at = 0; at < PACKETS; at++) {
        if (deliver(packets[at]) != BYTES || recv(sockets[1], copy, BYTES, MSG_DONTWAIT) != BYTES)
            fail("a packet isn't wanted by anybody");
    }
    /* Those that somebody wants are thrown away, so that nobody need take them. */
    char *none = malloc(strlen(all) + EXPRESSION);
    sprintf(none, "not (%s)", all);
    compile(&joined, none);
    attach(&joined);
    compile(&nothing, "less 1");
    double with = measure(deliver);
    if (recv(sockets[1], copy, BYTES, MSG_DONTWAIT) >= 0) fail("a packet isn't wanted by anybody");
    attach(&nothing);
    double without = measure(deliver);
    return with > without ? with - without : 0;
}

int main(int words, char **word) {
    if (words != 4 || (count = atoi(word[3])) < 1 || count > MOST) fail("filter port|address libpcap|linux COUNT");
    int with_address = !strcmp(word[1], "address");
    for (int at = 0; at < PACKETS; at++) fill(packets[at], at * 617 % 1000 % count, with_address);
    if (!strcmp(word[2], "linux")) {
        printf("%.2f\n", by_linux(with_address));
        return 0;
    }
    for (int number = 0; number < count; number++) {
        char expression[EXPRESSION];
        say(expression, number, with_address);
        compile(&filters[number], expression);
    }
    for (int at = 0; at < PACKETS; at++)
        if (find(packets[at]) != at * 617 % 1000 % count) fail("a packet isn't found");
    printf("%.2f\n", measure(find));
    return 0;
}
