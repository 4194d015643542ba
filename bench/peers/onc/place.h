/* A socket for an address like 127.0.0.1:7000, over TCP or UDP. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <rpc/rpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what) {
    perror(what);
    exit(1);
}

static int is_udp(const char *way) { return strcmp(way, "udp") == 0; }

static struct sockaddr_in place(char *text) {
    char *port = strchr(text, ':');
    if (!port) fail(text);
    *port = 0;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port + 1))};
    if (!inet_aton(text, &address.sin_addr)) fail(text);
    return address;
}

static int open_socket(const char *way) {
    int one = 1, s = socket(AF_INET, is_udp(way) ? SOCK_DGRAM : SOCK_STREAM, 0);
    if (s < 0) fail("socket");
    if (!is_udp(way)) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return s;
}
