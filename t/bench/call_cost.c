/* SPDX-License-Identifier: MIT */
/*
 * call_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...: prints, for each WAY of calling,
 *
 *	WAY WITHIN SUSTAINED
 *
 * in nanoseconds per call: the best of ROUNDS runs of SHORT calls each, and the mean of CALLS calls. The ways take
 * turns, in each round and in every TURN of the CALLS calls, so that what disturbs the machine disturbs all of them.
 *
 * A WAY may be three: BASE:OURS:LIMIT. Then SUSTAINED is of no meaning, and there is
 *
 *	BASE:OURS:LIMIT RATIO LONGER OURS LIMIT
 *
 * what OURS adds to BASE over what LIMIT adds to it, and both. Medians of turns of PIECE calls, of which each has its
 * own ratio: the three take turns within a millisecond, since what others do on the machine may take several times as
 * long as a call, for milliseconds or minutes. A piece of OURS has one change of chunks, always, so no median leaves
 * that out. LONGER: ratios of TOGETHER pieces each, in which there is also what happens more rarely. Before, the first
 * of OURS is called LAP times: in mode ring all memory is there then.
 *
 * A way is a function of bench_function.c in a library of its own, or `tsc`, two reads of
 * the time stamp counter instead of a call. Which of them are traced, and how, is up to the caller. With -DBENCH_LOCAL
 * there is one way, `local`, a function of the program itself; with -DBENCH_ENTRY there are those of entry.sh, which
 * name the way before the shape.
 *
 * It binds itself to a CPU, since uftrace refuses to record taskset.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "entry_shapes.h"
#include "options.h"

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

#define PIECE	 16384 /* calls whose events fill a chunk of 256 KiB */
#define TOGETHER 16
#define LAP	 (1 << 20) /* their events fill 16 MiB */

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

static struct {
	const struct way *way;
	double within;
} used[WAYS];
static int uses;

/* Its number among those that are used. */
static int use(const char *name)
{
	const struct way *way = find_way(name);

	for (int i = 0; i < uses; i++)
		if (used[i].way == way)
			return i;
	if (uses == WAYS)
		errx(2, "more than %d ways", WAYS);
	used[uses].way = way;
	used[uses].within = 1e9;
	ns_per_call(way, SHORT); /* binds, maps, warms up */
	return uses++;
}

struct sums {
	double ns[3]; /* BASE, OURS, LIMIT */
};

static double ratio(const struct sums *of)
{
	double limit = of->ns[2] - of->ns[0];

	return limit > 0 ? (of->ns[1] - of->ns[0]) / limit : 1e9;
}

static double middle(double *list, size_t n)
{
	qsort(list, n, sizeof(*list), bench_by_size);
	return list[n / 2];
}

static double *list_of(size_t n)
{
	double *list = calloc(n, sizeof(*list));

	if (!list)
		err(1, "calloc");
	return list;
}

static void compare(const char *name, const int number[3], long calls)
{
	size_t pieces = (size_t)(calls / PIECE) / TOGETHER * TOGETHER, longer = 0;

	if (!pieces)
		pieces = TOGETHER;
	double *ratios = list_of(pieces), *together = list_of(pieces);
	double *ours = list_of(pieces), *limit = list_of(pieces);
	struct sums sums = {{0}};
	for (size_t i = 0; i < pieces; i++) {
		struct sums piece;
		for (int k = 0; k < 3; k++) {
			/* Each of the two follows the other one as often. */
			int which = k && i % 2 ? 3 - k : k;
			piece.ns[which] = ns_per_call(used[number[which]].way, PIECE);
			sums.ns[which] += piece.ns[which];
		}
		ratios[i] = ratio(&piece);
		ours[i] = piece.ns[1] - piece.ns[0];
		limit[i] = piece.ns[2] - piece.ns[0];
		if (i % TOGETHER == TOGETHER - 1) {
			together[longer++] = ratio(&sums);
			sums = (struct sums){{0}};
		}
	}
	printf("%s %.4f %.4f %.3f %.3f\n", name, middle(ratios, pieces), middle(together, longer), middle(ours, pieces),
		middle(limit, pieces));
	free(ratios);
	free(ours);
	free(limit);
	free(together);
}

static void compare_three(const char *names, long calls, long before)
{
	char name[3][64];
	int number[3];

	if (sscanf(names, "%63[^:]:%63[^:]:%63[^:]", name[0], name[1], name[2]) != 3)
		errx(2, "not BASE:OURS:LIMIT: %s", names);
	for (int k = 0; k < 3; k++)
		number[k] = use(name[k]);
	if (before)
		ns_per_call(used[number[1]].way, before);
	compare(names, number, calls);
}

int main(int argc, char **argv)
{
	struct bench_options options = { .calls = 5000000, .rounds = 50 };
	double sustained[WAYS] = {0};
	int single;

	if (!bench_take_options(&options, argc, argv))
		return 2;
	const long calls = options.calls, rounds = options.rounds;
	if (optind == argc || calls < 1 || rounds < 1)
		errx(2, "Usage: call_cost [-c CPU] [-n CALLS] [-r ROUNDS] WAY...");
	for (int i = optind; i < argc; i++)
		if (!strchr(argv[i], ':'))
			use(argv[i]);
	single = uses;
	for (int i = optind, laps = 0; i < argc; i++)
		if (strchr(argv[i], ':'))
			compare_three(argv[i], calls, laps++ ? 0 : LAP);
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < uses; i++) {
			double ns = ns_per_call(used[i].way, SHORT);
			if (ns < used[i].within)
				used[i].within = ns;
		}
	}
	for (long done = 0, turn; done < calls; done += turn) {
		turn = calls - done < TURN ? calls - done : TURN;
		for (int i = 0; i < single; i++)
			sustained[i] += ns_per_call(used[i].way, turn) * (double)turn;
	}
	for (int i = 0; i < uses; i++)
		printf("%s %.3f %.3f\n", used[i].way->name, used[i].within, sustained[i] / (double)calls);
	return 0;
}
