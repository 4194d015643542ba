/* The two filters of filters.h, as a C programmer would write them for Ethernet. */

#include <string.h>

#include <arpa/inet.h>

#include "match.h"

enum {
	ETHER_TYPE = 12,
	IP = 14,
	IP_FRAGMENT = IP + 6,
	IP_PROTOCOL = IP + 9,
	IP_SOURCE = IP + 12,
	IP_DESTINATION = IP + 16,
	ALL = 262144,
};

static uint16_t half(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t word(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* Whether it is the first or only part of a packet of that protocol over IPv4 to that port. */
static int is_to(const unsigned char *packet, uint32_t length, uint8_t protocol, uint16_t port)
{
	/* Up to the fragment's offset all must be there, and the port behind a header of any length. */
	if (length < IP_FRAGMENT + 2 || half(packet + ETHER_TYPE) != htons(0x0800) || packet[IP_PROTOCOL] != protocol ||
	    (half(packet + IP_FRAGMENT) & htons(0x1fff)) != 0)
		return 0;
	uint32_t at = IP + 4 * (packet[IP] & 15u) + 2;
	return length >= at + 2 && half(packet + at) == htons(port);
}

uint32_t match_web(const unsigned char *restrict packet, uint32_t length)
{
	uint32_t host = htonl(0x0a000001);

	if (!is_to(packet, length, 6, 80) || length < IP_SOURCE + 4)
		return 0;
	if (word(packet + IP_SOURCE) == host)
		return ALL;
	return length >= IP_DESTINATION + 4 && word(packet + IP_DESTINATION) == host ? ALL : 0;
}

uint32_t match_nfs(const unsigned char *restrict packet, uint32_t length)
{
	return is_to(packet, length, 17, 2049) && length >= IP_DESTINATION + 4 &&
		       word(packet + IP_DESTINATION) == htonl(0x0a000001)
		   ? ALL
		   : 0;
}
