/*
 * The same frames as send.c, written by hand: a template of all headers of which only lengths, the datagram's number,
 * xid and the checksums are patched; the checksum of the datagram is summed up while its words are written.
 */

#include <string.h>

#include <arpa/inet.h>

#include "calls.h"
#include "messages.h"
#include "send.h"

enum {
	AT_IP_LENGTH = 14 + 2,
	AT_IP_NUMBER = 14 + 4,
	AT_IP_CHECKSUM = 14 + 10,
	AT_UDP_LENGTH = 34 + 4,
	AT_UDP_CHECKSUM = 34 + 6,
};

#define HALF(value) ((value) >> 8 & 255), ((value) & 255)
#define WORD(value) HALF((uint32_t)(value) >> 16), HALF((value) & 0xffff)

static const unsigned char frame_header[FRAME_HEADER] = {
    /* Ethernet */
    SERVER_HARDWARE, CLIENT_HARDWARE, HALF(0x0800),
    /* IP, without length, number and checksum; as lwIP has it, 255 hops */
    0x45, 0, HALF(0), HALF(0), HALF(0), 255, 17, HALF(0), CLIENT_ADDRESS, SERVER_ADDRESS,
    /* UDP, without length and checksum */
    HALF(CLIENT_PORT), HALF(SERVER_PORT), HALF(0), HALF(0)};

/* A call without xid and procedure, summed up. */
#define CALL_SUM (RPC_MSG_VERSION + (PROGRAM >> 16) + (PROGRAM & 0xffff) + VERSION)

static uint16_t number;

void open_stack(void)
{
}

static void put_half(unsigned char *at, uint16_t half)
{
	half = htons(half);
	memcpy(at, &half, sizeof half);
}

static void put_word(unsigned char *at, uint32_t word)
{
	word = htonl(word);
	memcpy(at, &word, sizeof word);
}

/* The sum of halves, to one half in which carries are added again. */
static uint16_t folded(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* A sum of halves of a 4-byte word may be taken of the word itself: carries are added again in the end. */
static void put_headers(unsigned char *frame, uint16_t length, uint32_t xid, uint32_t procedure, uint64_t arguments)
{
	static const unsigned char addresses[] = {CLIENT_ADDRESS, SERVER_ADDRESS};
	unsigned char *call = frame + FRAME_HEADER;
	uint16_t datagram = (uint16_t)(8 + length), packet = (uint16_t)(28 + length), id = number++;
	uint64_t hosts = 0, udp;
	uint16_t checksum;

	for (int i = 0; i < 8; i += 2)
		hosts += (uint64_t)(addresses[i] << 8 | addresses[i + 1]);
	memcpy(frame, frame_header, sizeof frame_header);
	put_half(frame + AT_IP_LENGTH, packet);
	put_half(frame + AT_IP_NUMBER, id);
	put_half(frame + AT_IP_CHECKSUM, (uint16_t)~folded(hosts + 0x4500 + 255 * 256 + 17 + packet + id));
	put_half(frame + AT_UDP_LENGTH, datagram);
	udp = hosts + 17 + CLIENT_PORT + SERVER_PORT + 2u * datagram + CALL_SUM + xid + procedure + arguments;
	checksum = (uint16_t)~folded(udp);
	put_half(frame + AT_UDP_CHECKSUM, checksum != 0 ? checksum : 0xffff);
	put_word(call, xid);
	put_word(call + 4, CALL);
	put_word(call + 8, RPC_MSG_VERSION);
	put_word(call + 12, PROGRAM);
	put_word(call + 16, VERSION);
	put_word(call + 20, procedure);
	memset(call + 24, 0, 16);
}

int send_pair(unsigned char *restrict frame, uint32_t xid, const struct pair *restrict pair)
{
	unsigned char *arguments = frame + FRAME_HEADER + CALL_HEADER;
	uint32_t first = (uint32_t)pair->first, second = (uint32_t)pair->second;

	put_headers(frame, CALL_HEADER + 8, xid, PAIR, (uint64_t)first + second);
	put_word(arguments, first);
	put_word(arguments + 4, second);
	return FRAME_HEADER + CALL_HEADER + 8;
}

#define SEND_ARRAY(n)                                                                               \
	int send_array_##n(unsigned char *restrict frame, uint32_t xid, const int *restrict values) \
	{                                                                                           \
		unsigned char *arguments = frame + FRAME_HEADER + CALL_HEADER + 4;                  \
		/* At most 250 halves each: they fit. */                                            \
		uint32_t high = 0, low = 0;                                                         \
                                                                                                    \
		for (int i = 0; i < n; i++) {                                                       \
			uint32_t value = (uint32_t)values[i];                                       \
			put_word(arguments + 4 * i, value);                                         \
			high += value >> 16;                                                        \
			low += value & 0xffff;                                                      \
		}                                                                                   \
		put_headers(frame, CALL_HEADER + 4 + 4 * n, xid, ARRAY, (uint64_t)n + high + low);  \
		put_word(arguments - 4, n);                                                         \
		return FRAME_HEADER + CALL_HEADER + 4 + 4 * n;                                      \
	}
SEND_ARRAY(100)
SEND_ARRAY(250)
