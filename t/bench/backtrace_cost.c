/* SPDX-License-Identifier: MIT */
/*
 * backtrace_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...: prints, for each WAY of calling a function of
 * values_function.c with 20 callers, those of main() among them,
 *
 *	WAY WITHIN SUSTAINED
 *
 * in nanoseconds per call, as values_cost does. The functions, by what is recorded of them (backtraces.sh), are `none`,
 * `plain`, which has a backtrace, and in `libc` a function of ours that calls backtrace() of libc. The callers are
 * always the same, or, in ways that end with `_new`, each time others of two that each may be, in an order that has
 * hardly been there before. `first` is the mean of calls whose callers are all seen for the first time, each once.
 */
#define _GNU_SOURCE
#include <err.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"

#define SHORT 500 /* calls; with new backtraces they fit into the least chunk */
#define TURN  50000
#define DEEP  15 /* with those two here, main(), what calls it, and by_plain() or so */

typedef long function(long a, long b);
function bench_none, bench_plain;

/* backtraces.sh makes them: FRESH functions that call each other, 16 in a row, then this one. */
extern long (*const bench_fresh[])(function *call);
extern const long bench_fresh_count;

static __attribute__((noinline)) long by_libc(long a, long b)
{
	void *address[32];

	return backtrace(address, 32) < 20 ? 0 : b < 0 ? b : a + 1;
}

/* By the PLT: that is what is traced. */
static __attribute__((noinline)) long by_plain(long a, long b)
{
	return bench_plain(a, b);
}

static __attribute__((noinline)) long by_none(long a, long b)
{
	return bench_none(a, b);
}

static __attribute__((noinline)) long go(function *call, uint64_t path, int depth)
{
	long result;

	if (!depth)
		result = call(0, 1) - 1;
	else if (path & 1)
		result = go(call, path >> 1, depth - 1) + 1;
	else
		result = go(call, path >> 1, depth - 1) - 1;
	__asm__ volatile("");
	return result;
}

static uint64_t random_word(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static double ns_per_call(const char *way, long n)
{
	function *call = !strncmp(way, "none", 4) ? by_none : !strncmp(way, "libc", 4) ? by_libc : by_plain;
	const bool changes = strstr(way, "_new") != NULL;
	uint64_t path = 0x155;
	double start = bench_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < n; i++) {
		path = changes ? random_word() : path;
		go(call, path, DEEP);
	}
	return (bench_ns(CLOCK_MONOTONIC) - start) / (double)n;
}

static double first_ns(function *call)
{
	double start = bench_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < bench_fresh_count; i++)
		bench_fresh[i](call);
	return (bench_ns(CLOCK_MONOTONIC) - start) / (double)bench_fresh_count;
}

int main(int argc, char **argv)
{
	double within[32], sustained[32] = { 0 }, first, known;
	struct bench_options options = { .calls = 1000000, .rounds = 400 };

	if (!bench_take_options(&options, argc, argv))
		return 2;
	const int n = argc - optind;
	if (n < 1 || n > 32)
		errx(2, "Usage: backtrace_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...");
	/* What the code itself costs that is read for the first time, page by page, is not meant. */
	known = first_ns(by_none);
	by_plain(0, 1);
	first = first_ns(by_plain);
	known = first_ns(by_none);
	printf("first %.2f %.2f\n", first - known, first - known);
	for (int i = 0; i < n; i++)
		within[i] = ns_per_call(argv[optind + i], SHORT);
	for (long r = 0; r < options.rounds; r++)
		for (int i = 0; i < n; i++) {
			double ns = ns_per_call(argv[optind + i], SHORT);
			within[i] = ns < within[i] ? ns : within[i];
		}
	for (long done = 0, turn; done < options.calls; done += turn) {
		turn = options.calls - done < TURN ? options.calls - done : TURN;
		for (int i = 0; i < n; i++)
			sustained[i] += ns_per_call(argv[optind + i], turn) * (double)turn;
	}
	for (int i = 0; i < n; i++)
		printf("%s %.2f %.2f\n", argv[optind + i], within[i], sustained[i] / (double)options.calls);
	return 0;
}
