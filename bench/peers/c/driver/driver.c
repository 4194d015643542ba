/*
 * Runs one workload on several contenders in one process, and says what came out, a JSON object a line:
 *
 *     driver measure WORKLOAD ROUNDS MICROSECONDS CONTENDER...    {"contender": "hand", "ns": [2.81, 2.79, ...]}
 *     driver count WORKLOAD CALLS CONTENDER                       nothing; for who counts instructions
 *
 * A contender is NAME=FILE:FUNCTION or NAME=FILE:FUNCTION:INITIALISER, a shared object, or NAME=@ADDRESS, a function
 * in this process (in hexadecimal). The first one is the reference: before anything is measured, all others must do
 * the same as it, by every byte, for the same random arguments; who doesn't has {"contender": "..", "error": ".."}.
 * Rounds are interleaved: in each, every contender has so many microseconds, arguments and xid are new in each call.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workloads.h"

typedef int encoder(char *output, uint32_t xid, const void *argument);
typedef int decoder(const char *message, uint32_t length, uint32_t xid, void *output);
typedef uint32_t filter(const unsigned char *packet, uint32_t length);

struct contender {
	const char *name;
	void *function;
	size_t calls;
	double *samples;
	const char *error;
};

enum {
	CASES = 5000,
	MOST_CONTENDERS = 32,
	/* Bytes of arguments that are used in turns: they stay in the first cache. */
	POOL = 16384,
};

/* Bytes around what is written, to see that nothing else is. */
#define MARGIN 64

static struct {
	const struct workload *work;
	unsigned char *inputs, *inputs_end, *output;
} stage;

static void open_stage(const struct workload *work)
{
	size_t count = POOL / work->input;

	if (count < 4)
		count = 4;
	if (count > 512)
		count = 512;
	/* A power of two, so that counted calls use each argument as often. */
	while ((count & (count - 1)) != 0)
		count &= count - 1;
	size_t stride = (work->input + 15) & ~(size_t)15;
	stage.work = work;
	stage.inputs = aligned_alloc(64, (count * stride + 63) & ~(size_t)63);
	stage.inputs_end = stage.inputs + count * stride;
	stage.output = aligned_alloc(64, (work->output + 2 * MARGIN + 63) & ~(size_t)63);
	if (stage.inputs == NULL || stage.output == NULL)
		abort();
}

static size_t stride(void)
{
	return (stage.work->input + 15) & ~(size_t)15;
}

static unsigned call(void *function, unsigned char *input, uint32_t xid)
{
	struct message *message = (struct message *)input;
	char *output = (char *)stage.output + MARGIN;

	switch (stage.work->shape) {
	case ENCODER:
		return (unsigned)((encoder *)function)(output, xid, input);
	case DECODER:
		return (unsigned)((decoder *)function)((char *)message->bytes, message->length, message->xid, output);
	default:
		return ((filter *)function)(message->bytes, message->length);
	}
}

/* What a function did with its arguments, in one number. */
static uint64_t outcome(void *function, uint32_t xid)
{
	size_t length = stage.work->output + 2 * MARGIN;
	uint64_t hash = 0xcbf29ce484222325;

	memset(stage.output, 0xa5, length);
	hash = (hash ^ call(function, stage.inputs, xid)) * 0x100000001b3;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ stage.output[i]) * 0x100000001b3;
	return hash;
}

/* Whether a function does the same as the reference, whose outcomes are known or become so. */
static const char *check(void *function, uint64_t *outcomes, int is_reference)
{
	static char error[64];
	struct random random = {0x9e3779b97f4a7c15};

	for (uint32_t i = 0; i < CASES; i++) {
		uint32_t xid = (uint32_t)next_random(&random);
		stage.work->fill(stage.inputs, stage.work->size, &random);
		uint64_t now = outcome(function, xid);
		if (is_reference)
			outcomes[i] = now;
		else if (outcomes[i] != now) {
			snprintf(error, sizeof error, "case %u differs from the generic code", i);
			return error;
		}
	}
	return NULL;
}

static void fill_pool(uint64_t seed)
{
	struct random random = {seed | 1};

	for (unsigned char *at = stage.inputs; at != stage.inputs_end; at += stride())
		stage.work->fill(at, stage.work->size, &random);
}

/*
 * One loop for each shape, so that a call is all that is in it; whatever a function writes is looked at as far as the
 * compiler knows.
 */
#define REPEAT(call)                                    \
	for (size_t i = 0; i < calls; i++) {            \
		call;                                   \
		__asm__ volatile("" ::: "memory");      \
		at += step;                             \
		if (at == end)                          \
			at = stage.inputs;              \
	}

static void repeat(void *function, size_t calls)
{
	unsigned char *at = stage.inputs, *end = stage.inputs_end;
	char *output = (char *)stage.output + MARGIN;
	size_t step = stride();
	encoder *encode = function;
	decoder *decode = function;
	filter *match = function;

	switch (stage.work->shape) {
	case ENCODER:
		REPEAT(encode(output, (uint32_t)i, at))
		break;
	case DECODER:
		REPEAT(decode((char *)((struct message *)at)->bytes, ((struct message *)at)->length,
			      ((struct message *)at)->xid, output))
		break;
	case FILTER:
		REPEAT(match(((struct message *)at)->bytes, ((struct message *)at)->length))
		break;
	}
}

static double nanoseconds(void *function, size_t calls)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	repeat(function, calls);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}

/* The least of a few times: the machine may have other business in some. */
static double least_nanoseconds(void *function, size_t calls)
{
	double least = nanoseconds(function, calls);

	for (int i = 0; i < 4; i++) {
		double time = nanoseconds(function, calls);
		if (time < least)
			least = time;
	}
	return least;
}

/* How many calls fill a sample. */
static size_t calls_in(void *function, double sample)
{
	size_t calls = 16;
	double time;

	while ((time = least_nanoseconds(function, calls)) < sample / 4)
		calls *= 2;
	size_t fitting = (size_t)((double)calls * sample / time);
	return fitting > 0 ? fitting : 1;
}

static const char *find(struct contender *contender, char *where)
{
	char *function, *initialiser;

	if (where[0] == '@') {
		contender->function = (void *)(uintptr_t)strtoull(where + 1, NULL, 16);
		return NULL;
	}
	function = strchr(where, ':');
	if (function == NULL)
		return "it is FILE:FUNCTION or @ADDRESS";
	*function++ = 0;
	initialiser = strchr(function, ':');
	if (initialiser != NULL)
		*initialiser++ = 0;
	void *object = dlopen(where, RTLD_NOW | RTLD_LOCAL);
	if (object == NULL || (contender->function = dlsym(object, function)) == NULL)
		return dlerror();
	if (initialiser != NULL) {
		void (*initialise)(void) = (void (*)(void))dlsym(object, initialiser);
		if (initialise == NULL)
			return dlerror();
		initialise();
	}
	return NULL;
}

static int parse(struct contender *contenders, int count, char **texts)
{
	for (int i = 0; i < count; i++) {
		char *where = strchr(texts[i], '=');
		if (where == NULL)
			return 0;
		*where++ = 0;
		contenders[i].name = texts[i];
		contenders[i].error = find(&contenders[i], where);
		if (contenders[i].error != NULL)
			contenders[i].error = strdup(contenders[i].error);
	}
	return 1;
}

static void measure(struct contender *contenders, int count, int rounds, double sample)
{
	static uint64_t outcomes[CASES];

	for (int i = 0; i < count; i++)
		if (contenders[i].error == NULL && (contenders[i].error = check(contenders[i].function, outcomes, i == 0)))
			contenders[i].error = strdup(contenders[i].error);
	fill_pool((uint64_t)time(NULL));
	for (int i = 0; i < count; i++) {
		contenders[i].samples = calloc((size_t)rounds, sizeof(double));
		if (contenders[i].error == NULL)
			contenders[i].calls = calls_in(contenders[i].function, sample);
	}
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < count; i++)
			if (contenders[i].error == NULL)
				contenders[i].samples[round] =
				    nanoseconds(contenders[i].function, contenders[i].calls) / (double)contenders[i].calls;
	for (int i = 0; i < count; i++) {
		printf("{\"contender\": \"%s\", ", contenders[i].name);
		if (contenders[i].error != NULL) {
			printf("\"error\": \"");
			for (const char *at = contenders[i].error; *at != 0; at++)
				putchar(*at == '"' || *at == '\\' || *at < ' ' ? ' ' : *at);
			printf("\"}\n");
			continue;
		}
		printf("\"ns\": [");
		for (int round = 0; round < rounds; round++)
			printf("%s%.4f", round == 0 ? "" : ", ", contenders[i].samples[round]);
		printf("]}\n");
	}
	fflush(stdout);
}

/* As main: this file is also loaded as a shared object, by who has contenders in its own process. */
int drive(int argc, char **argv)
{
	static struct contender contenders[MOST_CONTENDERS];
	int is_measured = argc > 5 && strcmp(argv[1], "measure") == 0;
	int first = is_measured ? 5 : 4;

	if (argc <= first || argc - first > MOST_CONTENDERS || workload(argv[2]) == NULL) {
		fprintf(stderr, "driver measure WORKLOAD ROUNDS MICROSECONDS CONTENDER... | count WORKLOAD CALLS CONTENDER\n");
		return 2;
	}
	open_stage(workload(argv[2]));
	if (!parse(contenders, argc - first, argv + first))
		return 2;
	if (is_measured) {
		measure(contenders, argc - first, atoi(argv[3]), atof(argv[4]) * 1e3);
		return 0;
	}
	if (contenders[0].error != NULL) {
		fprintf(stderr, "%s\n", contenders[0].error);
		return 1;
	}
	fill_pool(1);
	repeat(contenders[0].function, strtoull(argv[3], NULL, 10));
	return 0;
}

int main(int argc, char **argv)
{
	return drive(argc, argv);
}
