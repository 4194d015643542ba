#include <string.h>

#include <arpa/inet.h>

#include "calls.h"
#include "send.h"
#include "workloads.h"

/* As rpcgen declares them; the driver is built without libtirpc. */
struct pair {
	int first, second;
};

struct variant {
	int which;
	union {
		int number;
		int64_t wide;
		char digest[16];
	} value;
};

struct node {
	int value;
	struct node *next;
};

/* xorshift64*: what is random need only differ from run to run of a loop. */
uint64_t next_random(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1d;
}

static uint32_t below(struct random *random, uint32_t limit)
{
	return (uint32_t)((next_random(random) >> 32) * limit >> 32);
}

static void fill_bytes(void *input, size_t size, struct random *random)
{
	unsigned char *bytes = input;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(next_random(random) >> 56);
}

/* A text of any length below the room that there is, often a short one. */
static void fill_text(void *input, size_t room, struct random *random)
{
	char *text = input;
	size_t length = below(random, below(random, 4) == 0 ? (uint32_t)room : 32);

	for (size_t i = 0; i < length; i++)
		text[i] = (char)(1 + below(random, 255));
	text[length] = 0;
}

static void fill_variant(void *input, size_t size, struct random *random)
{
	struct variant *variant = input;

	fill_bytes(variant, size, random);
	/* Sometimes one that has no arm. */
	variant->which = below(random, 16) == 0 ? (int)next_random(random) : (int)below(random, 4);
}

static void fill_list(void *input, size_t most, struct random *random)
{
	struct node *nodes = input;
	uint32_t length = 1 + below(random, (uint32_t)most);

	for (uint32_t i = 0; i < length; i++) {
		nodes[i].value = (int)next_random(random);
		nodes[i].next = i + 1 < length ? &nodes[i + 1] : NULL;
	}
}

static unsigned char *put(unsigned char *at, uint32_t word)
{
	word = htonl(word);
	memcpy(at, &word, sizeof word);
	return at + sizeof word;
}

/*
 * A reply whose result has `size` bytes, behind a verifier that may have some: mostly a good one, else one in which a
 * word is wrong or the length.
 */
static void fill_reply(struct message *reply, size_t size, struct random *random)
{
	unsigned char *at = reply->bytes;
	uint32_t verifier = below(random, 16) == 0 ? below(random, 420) : 0;

	reply->xid = (uint32_t)next_random(random);
	at = put(at, reply->xid);
	at = put(at, 1);
	at = put(at, 0);
	at = put(at, 0);
	at = put(at, verifier);
	fill_bytes(at, verifier, random);
	at = put(at + (verifier + 3) / 4 * 4, 0);
	fill_bytes(at, size, random);
	reply->length = (uint32_t)(at - reply->bytes + size);
	switch (below(random, 32)) {
	case 0:
		put(reply->bytes + 4 * below(random, REPLY_HEADER / 4), below(random, 8));
		break;
	case 1:
		reply->length = below(random, reply->length);
		break;
	}
}

static void fill_pair_reply(void *input, size_t size, struct random *random)
{
	fill_reply(input, size, random);
}

static void fill_array_reply(void *input, size_t count, struct random *random)
{
	struct message *reply = input;

	fill_reply(reply, 4 + 4 * count, random);
	put(reply->bytes + REPLY_HEADER, below(random, 32) == 0 ? below(random, 200) : (uint32_t)count);
}

/* An Ethernet frame as one meets it: TCP and UDP over IPv4 to and from a few hosts and ports, other protocols,
   scraps. */
static void fill_packet(void *input, size_t size, struct random *random)
{
	static const uint16_t types[] = {0x0800, 0x0800, 0x0800, 0x0800, 0x0800, 0x0800, 0x0806, 0x86dd};
	static const uint8_t protocols[] = {6, 6, 6, 17, 17, 17, 17, 1};
	static const uint16_t ports[] = {80, 2049, 443, 1023};
	static const uint32_t hosts[] = {0x0a000001, 0x0a000002, 0x0a000003, 0x08080808};
	struct message *packet = input;
	unsigned char *ip = packet->bytes + 14;
	uint16_t type = htons(types[below(random, 8)]);

	fill_bytes(packet->bytes, size, random);
	memcpy(packet->bytes + 12, &type, sizeof type);
	ip[0] = (unsigned char)(0x45 + (below(random, 16) == 0 ? below(random, 11) : 0));
	ip[6] = below(random, 8) == 0 ? (unsigned char)below(random, 32) : 0x40;
	ip[7] = 0;
	ip[9] = protocols[below(random, 8)];
	put(ip + 12, hosts[below(random, 4)]);
	put(ip + 16, hosts[below(random, 2)]);
	for (int i = 0; i < 2; i++) {
		uint16_t port = htons(ports[below(random, 3)]);
		memcpy(ip + 4 * (ip[0] & 15) + 2 * i, &port, sizeof port);
	}
	packet->length = below(random, 16) == 0 ? below(random, (uint32_t)size) : (uint32_t)size;
}

#define PACKET 96

#define ARRAY(n) {"array " #n, ENCODER, 4 * n, CALL_HEADER + 4 + 4 * n, fill_bytes, 4 * n},
#define LIST 16
#define TEXT_ROOM 256

static const struct workload workloads[] = {
	{"pair", ENCODER, sizeof(struct pair), CALL_HEADER + 8, fill_bytes, sizeof(struct pair)},
	ARRAY_SIZES(ARRAY)
	{"string", ENCODER, TEXT_ROOM, BUFFER, fill_text, TEXT_ROOM},
	{"union", ENCODER, sizeof(struct variant), BUFFER, fill_variant, sizeof(struct variant)},
	{"list", ENCODER, LIST * sizeof(struct node), BUFFER, fill_list, LIST},
	{"reply", DECODER, sizeof(struct message) + BUFFER, 8, fill_pair_reply, 8},
	{"reply array 100", DECODER, sizeof(struct message) + BUFFER, 400, fill_array_reply, 100},
	{"stub to frame", ENCODER, sizeof(struct pair), FRAME, fill_bytes, sizeof(struct pair)},
	{"stub to frame, array 100", ENCODER, 400, FRAME, fill_bytes, 400},
	{"stub to frame, array 250", ENCODER, 1000, FRAME, fill_bytes, 1000},
	{"bpf filter tcp", FILTER, sizeof(struct message) + PACKET, 0, fill_packet, PACKET},
	{"bpf filter udp", FILTER, sizeof(struct message) + PACKET, 0, fill_packet, PACKET},
};

const struct workload *workload(const char *name)
{
	for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	return NULL;
}
