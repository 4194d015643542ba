/* What is asked of all contenders: functions of three shapes, and how their random arguments are made. */

#ifndef WORKLOADS_H
#define WORKLOADS_H

#include <stddef.h>
#include <stdint.h>

enum shape {
	/* int f(char *output, uint32_t xid, const void *argument) */
	ENCODER,
	/* int f(const char *message, uint32_t length, uint32_t xid, void *output) */
	DECODER,
	/* uint32_t f(const unsigned char *packet, uint32_t length) */
	FILTER,
};

/* A message that a decoder or a filter is given. */
struct message {
	uint32_t length;
	uint32_t xid;
	_Alignas(8) unsigned char bytes[];
};

struct random {
	uint64_t state;
};

struct workload {
	const char *name;
	enum shape shape;
	/* Bytes of one argument, and of what the function writes at most. */
	size_t input, output;
	/* Makes an argument; `size` is this workload's own measure, such as the length of an array. */
	void (*fill)(void *input, size_t size, struct random *random);
	size_t size;
};

/* The workload of that name, or NULL. */
const struct workload *workload(const char *name);

uint64_t next_random(struct random *random);

#endif
