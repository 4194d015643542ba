/* libpcap's interpreter with programs that are known. */

#include <sys/types.h>

#include <pcap/bpf.h>

#include "filters.h"
#include "match.h"

/* Of libpcap's bpf_filter.c. */
u_int pcapint_filter(const struct bpf_insn *program, const u_char *packet, u_int whole, u_int captured);

static const struct bpf_insn web[] = {WEB_FILTER};
static const struct bpf_insn nfs[] = {NFS_FILTER};

uint32_t match_web(const unsigned char *restrict packet, uint32_t length)
{
	return pcapint_filter(web, packet, length, length);
}

uint32_t match_nfs(const unsigned char *restrict packet, uint32_t length)
{
	return pcapint_filter(nfs, packet, length, length);
}
