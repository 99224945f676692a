/* SPDX-License-Identifier: MIT */
/*
 * hold_cost CPU CALLS: calls bench_plt and bench_none, which take turns, and looks for how long each call lasted, by
 * the TSC. Prints, for each of them,
 *
 *	NAME LONGEST OVER50 OVER300 OVER1000 PREEMPTED
 *
 * the longest call in us, and how many lasted longer than 50, 300 and 1000 us, without those in which the kernel took
 * the processor away (an involuntary context switch), which are counted apart. What a hypervisor takes is not seen;
 * it shows with bench_none as well.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench.h"

#define TURN 10000

unsigned long bench_plt(unsigned long a);
unsigned long bench_none(unsigned long a);

struct held {
	double longest;
	long over[3], preempted;
};

static double ticks_per_us;

static inline unsigned long read_tsc(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long)high << 32 | low;
}

static double now_us(void)
{
	return bench_ns(CLOCK_MONOTONIC) / 1e3;
}

static long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

/* A call that began and ended at these ticks was long. */
static void look(struct held *held, double us, long *known)
{
	static const double limit[3] = {50, 300, 1000};
	long now = preemptions();

	if (now != *known) {
		*known = now;
		held->preempted++;
		return;
	}
	if (us > held->longest)
		held->longest = us;
	for (int i = 0; i < 3; i++)
		held->over[i] += us > limit[i];
}

/* A call by pointer would not go through the PLT. */
#define TURN_OF(function)                                                                                              \
	static void turn_##function(struct held *held)                                                                 \
	{                                                                                                              \
		const unsigned long worth = (unsigned long)(5 * ticks_per_us);                                         \
		long known = preemptions();                                                                            \
		unsigned long before = read_tsc(), longest = 0;                                                        \
                                                                                                                       \
		for (int i = 0; i < TURN; i++) {                                                                       \
			function(1);                                                                                   \
			unsigned long after = read_tsc(), took = after - before;                                       \
			if (took > worth) {                                                                            \
				look(held, (double)took / ticks_per_us, &known);                                       \
				after = read_tsc();                                                                    \
			} else if (took > longest) {                                                                   \
				longest = took;                                                                        \
			}                                                                                              \
			before = after;                                                                                \
		}                                                                                                      \
		if ((double)longest / ticks_per_us > held->longest)                                                    \
			held->longest = (double)longest / ticks_per_us;                                                \
	}
TURN_OF(bench_plt)
TURN_OF(bench_none)

static void print(const char *name, const struct held *held)
{
	printf("%s %.1f %ld %ld %ld %ld\n", name, held->longest, held->over[0], held->over[1], held->over[2],
		held->preempted);
}

int main(int argc, char **argv)
{
	struct held traced = {0}, untraced = {0};
	cpu_set_t set;

	if (argc != 3)
		errx(2, "Usage: hold_cost CPU CALLS");
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "CPU %s", argv[1]);
	double start = now_us();
	unsigned long first = read_tsc();
	while (now_us() - start < 20000)
		bench_plt(bench_none(1)); /* binds, maps, warms up */
	ticks_per_us = (double)(read_tsc() - first) / (now_us() - start);
	for (long left = atol(argv[2]); left > 0; left -= TURN) {
		turn_bench_plt(&traced);
		turn_bench_none(&untraced);
	}
	print("plt", &traced);
	print("none", &untraced);
	return 0;
}
