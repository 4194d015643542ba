/* What a client's stubs look like from outside: each writes a whole call message, or reads a whole reply. */

#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

struct pair;
struct variant;
struct node;

/* The program that is called; its procedures are numbered from 1 in the order of the functions below. */
#define PROGRAM 0x20000321
#define VERSION 1

enum procedure { PAIR = 1, ARRAY, TEXT, VARIANT, LIST };

/* Bytes of a call before its arguments: xid, CALL, RPC version, program, version, procedure, two empty
   authenticators. */
#define CALL_HEADER 40
/* Bytes of a successful reply before its result: xid, REPLY, MSG_ACCEPTED, an empty verifier, SUCCESS. */
#define REPLY_HEADER 24

/* Bytes that a buffer for a text, a list or a variant has. */
#define BUFFER 4096

/* Once, before all others. */
void open_client(void);

/* All give the length of the message, or 0 if it doesn't fit. */
int encode_pair(char *restrict buffer, uint32_t xid, const struct pair *restrict pair);
int encode_text(char *restrict buffer, uint32_t xid, const char *restrict text);
int encode_variant(char *restrict buffer, uint32_t xid, const struct variant *restrict variant);
int encode_list(char *restrict buffer, uint32_t xid, const struct node *restrict first);

/* 1 if the reply is the one to this call, was accepted, and its result was read. */
int decode_pair(const char *restrict buffer, uint32_t length, uint32_t xid, struct pair *restrict pair);
int decode_array_100(const char *restrict buffer, uint32_t length, uint32_t xid, int *restrict values);

/* encode_array_N, for each N that is measured; the growth of the time to specialise is measured with the larger
   ones. */
#define ARRAY_SIZES(X) X(1) X(3) X(10) X(20) X(30) X(100) X(250) X(300) X(1000) X(3000) X(10000)
#define DECLARE_ARRAY(n) int encode_array_##n(char *restrict buffer, uint32_t xid, const int *restrict values);
ARRAY_SIZES(DECLARE_ARRAY)

#endif
