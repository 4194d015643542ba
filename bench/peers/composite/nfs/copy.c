/* copy SERVER EXPORT SIZE N      {"ns": .., "result": ..}
 *
 * Copies the file `from` to `to`, both in that export of an NFS server, as its clients have to: each chunk is read to
 * here and written to there, and what was written is committed when the file is closed. A file ends where fewer bytes
 * are read than were asked for. SIZE is what is to be copied. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nfsc/libnfs.h>

enum { CHUNK = 1 << 20 };

static char buffer[CHUNK];

static struct nfs_context *nfs;

static void fail(const char *what) {
    fprintf(stderr, "error: %s: %s\n", what, nfs_get_error(nfs));
    exit(1);
}

static int checked(int result, const char *what) {
    if (result < 0)
        fail(what);
    return result;
}

static void write_all(struct nfsfh *target, int count) {
    for (int done = 0; done < count;)
        done += checked(nfs_write(nfs, target, count - done, buffer + done), "write");
}

static uint64_t copy(void) {
    struct nfsfh *source, *target;
    checked(nfs_open(nfs, "/from", O_RDONLY, &source), "from");
    checked(nfs_creat(nfs, "/to", 0644, &target), "to");
    uint64_t copied = 0;
    int count;
    do {
        count = checked(nfs_read(nfs, source, CHUNK, buffer), "read");
        write_all(target, count);
        copied += count;
    } while (count == CHUNK);
    /* It commits what was written: COMMIT goes over the wire. */
    checked(nfs_close(nfs, target), "close");
    checked(nfs_close(nfs, source), "close");
    return copied;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void mount(const char *server, const char *export) {
    nfs = nfs_init_context();
    if (nfs == NULL) {
        fprintf(stderr, "error: no memory for libnfs\n");
        exit(1);
    }
    checked(nfs_mount(nfs, server, export), export);
    if (nfs_get_readmax(nfs) < CHUNK || nfs_get_writemax(nfs) < CHUNK) {
        fprintf(stderr, "error: the server doesn't take %d bytes at a time\n", CHUNK);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "error: say `copy SERVER EXPORT SIZE N`\n");
        return 1;
    }
    uint64_t size = strtoull(argv[3], NULL, 10), n = strtoull(argv[4], NULL, 10), copied = 0;
    mount(argv[1], argv[2]);
    for (uint64_t warm = 0; warm < n / 10 + 1; warm++)
        copied = copy();
    double begin = now();
    for (uint64_t i = 0; i < n && copied == size; i++)
        copied = copy();
    printf("{\"ns\": %f, \"result\": %" PRIu64 "}\n", (now() - begin) / n, copied);
    nfs_destroy_context(nfs);
    return 0;
}
