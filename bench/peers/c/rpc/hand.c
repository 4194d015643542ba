/*
 * The same messages as calls.c, written by hand for these calls: no layers, constants as constants, one pass over the
 * arguments.
 */

#include <string.h>

#include <arpa/inet.h>

#include "calls.h"
#include "messages.h"

void open_client(void)
{
}

/* All of a call that is known, and xid; 40 bytes, which compilers merge into a few stores. */
static uint32_t *put_header(char *buffer, uint32_t xid, uint32_t procedure)
{
	uint32_t *word = (uint32_t *)buffer;

	word[0] = htonl(xid);
	word[1] = htonl(CALL);
	word[2] = htonl(RPC_MSG_VERSION);
	word[3] = htonl(PROGRAM);
	word[4] = htonl(VERSION);
	word[5] = htonl(procedure);
	word[6] = 0;
	word[7] = 0;
	word[8] = 0;
	word[9] = 0;
	return word + 10;
}

int encode_pair(char *restrict buffer, uint32_t xid, const struct pair *restrict pair)
{
	uint32_t *word = put_header(buffer, xid, PAIR);

	word[0] = htonl((uint32_t)pair->first);
	word[1] = htonl((uint32_t)pair->second);
	return CALL_HEADER + 8;
}

#define ENCODE_ARRAY(n)                                                                       \
	int encode_array_##n(char *restrict buffer, uint32_t xid, const int *restrict values) \
	{                                                                                     \
		uint32_t *restrict word = put_header(buffer, xid, ARRAY);                     \
                                                                                              \
		*word++ = htonl(n);                                                           \
		for (int i = 0; i < n; i++)                                                   \
			word[i] = htonl((uint32_t)values[i]);                                 \
		return CALL_HEADER + 4 + 4 * n;                                               \
	}
ARRAY_SIZES(ENCODE_ARRAY)

int encode_text(char *restrict buffer, uint32_t xid, const char *restrict text)
{
	uint32_t *word = put_header(buffer, xid, TEXT);
	uint32_t length = (uint32_t)strlen(text), padding = -length & 3;

	*word++ = htonl(length);
	if (length > BUFFER - CALL_HEADER - 4)
		return 0;
	memcpy(word, text, length);
	if (padding > BUFFER - CALL_HEADER - 4 - length)
		return 0;
	memset((char *)word + length, 0, padding);
	return (int)(CALL_HEADER + 4 + length + padding);
}

int encode_variant(char *restrict buffer, uint32_t xid, const struct variant *restrict variant)
{
	uint32_t *word = put_header(buffer, xid, VARIANT);
	uint64_t wide;

	*word++ = htonl(variant->which);
	switch (variant->which) {
	case NUMBER:
		*word = htonl((uint32_t)variant->variant_u.number);
		return CALL_HEADER + 8;
	case WIDE:
		wide = __builtin_bswap64((uint64_t)variant->variant_u.wide);
		memcpy(word, &wide, sizeof wide);
		return CALL_HEADER + 12;
	case DIGEST:
		memcpy(word, variant->variant_u.digest, 16);
		return CALL_HEADER + 20;
	default:
		return CALL_HEADER + 4;
	}
}

int encode_list(char *restrict buffer, uint32_t xid, const struct node *restrict first)
{
	uint32_t *word = put_header(buffer, xid, LIST), *end = (uint32_t *)(buffer + BUFFER);

	for (const struct node *node = first;; node = node->next) {
		if (word == end)
			return 0;
		*word++ = htonl((uint32_t)node->value);
		if (word == end)
			return 0;
		*word++ = htonl(node->next != NULL);
		if (node->next == NULL)
			return (int)((char *)word - buffer);
	}
}

/* Where the result of an accepted reply to this call begins, or NULL; what is left behind there in `*left`. */
static const uint32_t *accepted(const char *buffer, uint32_t length, uint32_t xid, uint32_t *left)
{
	const uint32_t *word = (const uint32_t *)buffer;
	uint32_t verifier;

	if (length < REPLY_HEADER || word[0] != htonl(xid) || word[1] != htonl(REPLY) || word[2] != htonl(MSG_ACCEPTED))
		return NULL;
	verifier = ntohl(word[4]);
	if (verifier > MAX_AUTH_BYTES)
		return NULL;
	verifier = (verifier + 3) & ~3u;
	if (verifier > length - REPLY_HEADER)
		return NULL;
	word += 5 + verifier / 4;
	*left = length - REPLY_HEADER - verifier;
	return *word == htonl(SUCCESS) ? word + 1 : NULL;
}

int decode_pair(const char *restrict buffer, uint32_t length, uint32_t xid, struct pair *restrict pair)
{
	uint32_t left;
	const uint32_t *word = accepted(buffer, length, xid, &left);

	if (word == NULL || left < 4)
		return 0;
	pair->first = (int)ntohl(word[0]);
	if (left < 8)
		return 0;
	pair->second = (int)ntohl(word[1]);
	return 1;
}

int decode_array_100(const char *restrict buffer, uint32_t length, uint32_t xid, int *restrict values)
{
	uint32_t left, count;
	const uint32_t *word;

	if (length != REPLY_HEADER + 4 + 4 * 100)
		return 0;
	word = accepted(buffer, length, xid, &left);
	if (word == NULL || left < 4)
		return 0;
	count = ntohl(*word++);
	left = left / 4 - 1;
	if (count > UINT32_MAX / 4)
		return 0;
	if (count == 100 && left == 100) {
		for (int i = 0; i < 100; i++)
			values[i] = (int)ntohl(word[i]);
		return 1;
	}
	for (uint32_t i = 0; i < (count < left ? count : left); i++)
		values[i] = (int)ntohl(word[i]);
	return 0;
}
