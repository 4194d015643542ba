/*
 * A client's stubs over the real libtirpc, in the order in which clnt_dg_create and clnt_dg_call (clnt_dg.c) do it:
 * header, procedure, credentials, then the arguments by the function that rpcgen made; and a reply back again. What a
 * client knows stands here as constants, so that the contexts of the specialiser need to say little.
 */

#include <stddef.h>

#include <rpc/rpc.h>

#include "calls.h"
#include "messages.h"

static AUTH *auth;

void open_client(void)
{
	auth = authnone_create();
}

static int encode(char *buffer, u_int size, uint32_t xid, uint32_t procedure, xdrproc_t encoder, const void *arguments)
{
	XDR stream;
	struct rpc_msg header;

	header.rm_xid = xid;
	header.rm_call.cb_prog = PROGRAM;
	header.rm_call.cb_vers = VERSION;
	xdrmem_create(&stream, buffer, size, XDR_ENCODE);
	if (!xdr_callhdr(&stream, &header) || !XDR_PUTINT32(&stream, (int32_t *)&procedure) ||
	    !AUTH_MARSHALL(auth, &stream) || !AUTH_WRAP(auth, &stream, encoder, (caddr_t)arguments))
		return 0;
	return (int)XDR_GETPOS(&stream);
}

int encode_pair(char *restrict buffer, uint32_t xid, const struct pair *restrict pair)
{
	return encode(buffer, CALL_HEADER + 8, xid, PAIR, (xdrproc_t)xdr_pair, pair);
}

#define ENCODE_ARRAY(n)                                                                               \
	int encode_array_##n(char *restrict buffer, uint32_t xid, const int *restrict values)         \
	{                                                                                             \
		struct numbers numbers = {{n, (int *)values}};                                        \
		return encode(buffer, CALL_HEADER + 4 + 4 * n, xid, ARRAY, (xdrproc_t)xdr_numbers, &numbers); \
	}
ARRAY_SIZES(ENCODE_ARRAY)

int encode_text(char *restrict buffer, uint32_t xid, const char *restrict text)
{
	struct text argument = {(char *)text};
	return encode(buffer, BUFFER, xid, TEXT, (xdrproc_t)xdr_text, &argument);
}

int encode_variant(char *restrict buffer, uint32_t xid, const struct variant *restrict variant)
{
	return encode(buffer, BUFFER, xid, VARIANT, (xdrproc_t)xdr_variant, variant);
}

int encode_list(char *restrict buffer, uint32_t xid, const struct node *restrict first)
{
	return encode(buffer, BUFFER, xid, LIST, (xdrproc_t)xdr_node, first);
}

static int decode(char *buffer, u_int length, uint32_t xid, xdrproc_t decoder, void *result)
{
	XDR stream;
	struct rpc_msg reply;
	struct rpc_err error;
	int decoded;

	reply.acpted_rply.ar_verf = _null_auth;
	reply.acpted_rply.ar_results.where = NULL;
	reply.acpted_rply.ar_results.proc = (xdrproc_t)xdr_void;
	xdrmem_create(&stream, buffer, length, XDR_DECODE);
	if (!xdr_replymsg(&stream, &reply) || reply.rm_xid != xid)
		return 0;
	if (reply.rm_reply.rp_stat == MSG_ACCEPTED && reply.acpted_rply.ar_stat == SUCCESS)
		error.re_status = RPC_SUCCESS;
	else
		_seterr_reply(&reply, &error);
	if (error.re_status != RPC_SUCCESS)
		return 0;
	decoded = AUTH_VALIDATE(auth, &reply.acpted_rply.ar_verf) && AUTH_UNWRAP(auth, &stream, decoder, result);
	if (reply.acpted_rply.ar_verf.oa_base != NULL) {
		stream.x_op = XDR_FREE;
		(void)xdr_opaque_auth(&stream, &reply.acpted_rply.ar_verf);
	}
	return decoded;
}

int decode_pair(const char *restrict buffer, uint32_t length, uint32_t xid, struct pair *restrict pair)
{
	return decode((char *)buffer, length, xid, (xdrproc_t)xdr_pair, pair);
}

int decode_array_100(const char *restrict buffer, uint32_t length, uint32_t xid, int *restrict values)
{
	struct numbers numbers = {{0, values}};

	/* The length says how many numbers there may be, so that none is written behind the array. */
	if (length != REPLY_HEADER + 4 + 4 * 100)
		return 0;
	return decode((char *)buffer, length, xid, (xdrproc_t)xdr_numbers, &numbers) && numbers.values.values_len == 100;
}
