/* SPDX-License-Identifier: MIT */
/*
 * call_cost [-c CPU] [-n CALLS] [-r ROUNDS] [-m] WAY...: prints, for each WAY of calling,
 *
 *	WAY WITHIN SUSTAINED
 *
 * in nanoseconds per call: the best of ROUNDS runs of SHORT calls each, and the mean of CALLS calls, with -m the median
 * of their turns. The ways take turns, in each round and in every TURN of the CALLS calls, so that what disturbs the
 * machine disturbs all of them. A way is a function of bench_function.c in a library of its own, or `tsc`, two reads of
 * the time stamp counter instead of a call. Which of them are traced, and how, is up to the caller. With -DBENCH_LOCAL
 * there is one way, `local`, a function of the program itself; with -DBENCH_ENTRY there are those of entry.sh, which
 * name the way before the shape.
 *
 * It binds itself to a CPU, since uftrace refuses to record taskset.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "entry_shapes.h"

/* 40 000 events: a chunk of 4 MiB holds 13 times as many, so most runs meet no change of chunks. */
#define SHORT 20000
/* At a time. */
#define WAYS 64
/* About as many as a chunk holds. */
#define TURN 250000

#ifdef BENCH_LOCAL
#define FUNCTIONS(X) X(local)
#elif defined(BENCH_ENTRY)
#define ENTRY_WAYS(shape) X(none_##shape) X(on_##shape) X(off_##shape) X(limit_##shape)
#define FUNCTIONS(X)	  ENTRY_SHAPES(ENTRY_WAYS)
#elif defined(BENCH_CLANG)
#define FUNCTIONS(X) \
	X(none) X(plt) X(calls) X(gcc5) X(gcc16) X(limitplt) X(limitpatchable) X(limitxray) X(clang5) X(xray)
#else
#define FUNCTIONS(X) X(none) X(plt) X(calls) X(gcc5) X(gcc16) X(limitplt) X(limitpatchable) X(limitxray)
#endif

/* The loops differ in the callee alone, and begin alike in their cache lines. */
#define X(name)                                                                                                        \
	unsigned long bench_##name(unsigned long a);                                                                   \
	static __attribute__((noinline, aligned(64))) unsigned long loop_##name(long n)                                \
	{                                                                                                              \
		unsigned long a = 0;                                                                                   \
		while (n--)                                                                                            \
			a = bench_##name(a);                                                                           \
		return a;                                                                                              \
	}
FUNCTIONS(X)
#undef X

static inline unsigned long read_tsc(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long)high << 32 | low;
}

static __attribute__((noinline, aligned(64))) unsigned long loop_tsc(long n)
{
	unsigned long a = 0;

	while (n--) {
		a += read_tsc();
		a -= read_tsc();
	}
	return a;
}

static const struct way {
	const char *name;
	unsigned long (*loop)(long n);
} ways[] = {{"tsc", loop_tsc},
#define X(name) {#name, loop_##name},
	FUNCTIONS(X)
#undef X
};

static double ns_per_call(const struct way *way, long n)
{
	double start = bench_ns(CLOCK_MONOTONIC);
	unsigned long a = way->loop(n);
	double end = bench_ns(CLOCK_MONOTONIC);

	if (way->loop != loop_tsc && a != (unsigned long)n)
		errx(1, "%ld calls of %s counted %lu", n, way->name, a);
	return (end - start) / (double)n;
}

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	errx(2, "no way of calling is named %s", name);
}

int main(int argc, char **argv)
{
	long calls = 5000000, rounds = 50;
	const struct way *way[WAYS];
	double within[WAYS], sustained[WAYS], *turns[WAYS];
	int cpu = -1, n, medians = 0;

	for (int c; (c = getopt(argc, argv, "c:mn:r:")) != -1;) {
		if (c == 'c')
			cpu = atoi(optarg);
		else if (c == 'n')
			calls = atol(optarg);
		else if (c == 'r')
			rounds = atol(optarg);
		else if (c == 'm')
			medians = 1;
		else
			return 2;
	}
	if (cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) < 0)
			err(1, "CPU %d", cpu);
	}
	n = argc - optind;
	if (n < 1 || n > WAYS || calls < 1 || rounds < 1)
		errx(2, "Usage: call_cost [-c CPU] [-n CALLS] [-r ROUNDS] [-m] WAY...");
	for (int i = 0; i < n; i++) {
		way[i] = find_way(argv[optind + i]);
		ns_per_call(way[i], SHORT); /* binds, maps, warms up */
		within[i] = 1e9;
		sustained[i] = 0;
		turns[i] = calloc((size_t)(calls / TURN + 1), sizeof(double));
		if (!turns[i])
			err(1, "calloc");
	}
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < n; i++) {
			double ns = ns_per_call(way[i], SHORT);
			if (ns < within[i])
				within[i] = ns;
		}
	}
	size_t taken = 0;
	for (long done = 0, turn; done < calls; done += turn, taken++) {
		turn = calls - done < TURN ? calls - done : TURN;
		for (int i = 0; i < n; i++) {
			turns[i][taken] = ns_per_call(way[i], turn);
			sustained[i] += turns[i][taken] * (double)turn;
		}
	}
	for (int i = 0; i < n; i++) {
		qsort(turns[i], taken, sizeof(double), bench_by_size);
		printf("%s %.3f %.3f\n", way[i]->name, within[i],
			medians ? turns[i][taken / 2] : sustained[i] / (double)calls);
	}
	return 0;
}
