/* SPDX-License-Identifier: MIT */
/*
 * values_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...: prints, for each WAY of calling,
 *
 *	WAY WITHIN SUSTAINED
 *
 * in nanoseconds per call: the best of ROUNDS runs of SHORT calls each, and the mean of CALLS calls, the ways in turns.
 * A way is a function of values_function.c in a library of its own, by what is recorded of it (values.sh); its text is
 * on the stack, in that library, or in memory that was allocated. `limit` is that of limit_sites.S.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"

#define SHORT 2000 /* calls; with their values they fill half of the least chunk */
#define TURN  100000

const char *bench_text(void);

#define INTS(X) X(bench_none) X(bench_plain) X(bench_ints) X(bench_limitvalues)
#define TEXTS(X) X(bench_stack) X(bench_load) X(bench_heap)

#define DECLARE(name) long name(long a, long b);
INTS(DECLARE)
#define DECLARE_TEXT(name) long name(const char *text, long b);
TEXTS(DECLARE_TEXT)

#define LOOP(name)                                                                                                     \
	static __attribute__((noinline, aligned(64))) long loop_##name(long n)                                         \
	{                                                                                                              \
		long a = 0;                                                                                            \
		while (n--)                                                                                            \
			a = name(a, n);                                                                                \
		return a;                                                                                              \
	}
INTS(LOOP)
#define LOOP_TEXT(name)                                                                                                \
	static const char *text_##name;                                                                                \
	static __attribute__((noinline, aligned(64))) long loop_##name(long n)                                         \
	{                                                                                                              \
		long a = 0;                                                                                            \
		while (n--)                                                                                            \
			a += name(text_##name, n);                                                                     \
		return a;                                                                                              \
	}
TEXTS(LOOP_TEXT)

static const struct way {
	const char *name;
	long (*loop)(long n);
} ways[] = {
#define ROW(name) { #name + 6, loop_##name },
	INTS(ROW) TEXTS(ROW)
};

#define WAYS (sizeof(ways) / sizeof(*ways))

static double ns_per_call(const struct way *way, long n)
{
	double start = bench_ns(CLOCK_MONOTONIC);
	long a = way->loop(n);
	double end = bench_ns(CLOCK_MONOTONIC);

	if (a != n)
		errx(1, "%ld calls of %s counted %ld", n, way->name, a);
	return (end - start) / (double)n;
}

static const struct way *find(const char *name)
{
	for (size_t i = 0; i < WAYS; i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	errx(2, "no way of calling is named %s", name);
}

int main(int argc, char **argv)
{
	char text[17] = "sixteen bytes...", *heap = malloc(4096);
	double within[32], sustained[32] = { 0 };
	struct bench_options options = { .calls = 2000000, .rounds = 400 };
	int n;

	if (!bench_take_options(&options, argc, argv))
		return 2;
	const long calls = options.calls, rounds = options.rounds;
	n = argc - optind;
	if (n < 1 || n > 32 || !heap)
		errx(2, "Usage: values_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...");
	memcpy(heap, text, sizeof(text));
	text_bench_stack = text;
	text_bench_load = bench_text();
	text_bench_heap = heap;
	for (int i = 0; i < n; i++)
		within[i] = ns_per_call(find(argv[optind + i]), SHORT);
	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < n; i++) {
			double ns = ns_per_call(find(argv[optind + i]), SHORT);
			within[i] = ns < within[i] ? ns : within[i];
		}
	for (long done = 0, turn; done < calls; done += turn) {
		turn = calls - done < TURN ? calls - done : TURN;
		for (int i = 0; i < n; i++)
			sustained[i] += ns_per_call(find(argv[optind + i]), turn) * (double)turn;
	}
	for (int i = 0; i < n; i++)
		printf("%s %.2f %.2f\n", argv[optind + i], within[i], sustained[i] / (double)calls);
	return 0;
}
