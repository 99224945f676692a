/* SPDX-License-Identifier: MIT */
/*
 * hold_cost CPU CALLS [FILE SIZE]: calls bench_plt and bench_none, which take turns, and looks for how long each call
 * lasted, by the TSC. With FILE, the turns of bench_none write to it by themselves, untraced, SIZE bytes for as many
 * calls as would make so much of a trace: what a plain program is held up for by that. Prints, for each of both,
 *
 *	NAME HELD OVER50 OVER300 OVER1000 LASTED LASTED300 WAITED STOLEN
 *
 * HELD is the longest hold in us, OVER how many were longer than 50, 300 and 1000 us, all without the time that the
 * thread was ready to run and did not: in a queue for the processor (run_delay of schedstat), or while the host had
 * that (what the thread's processor time lacks beside the clock, as the kernel knows of it; if the call slept it is not
 * told from sleep, and counts as held). LASTED is the longest call with it, LASTED300 how many were above 300 us so.
 * WAITED and STOLEN: ms of both kinds that were left out, in sum.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

#define TURN	   10000
#define CALL_BYTES 16 /* of a trace: entry and exit */

unsigned long bench_plt(unsigned long a);
unsigned long bench_none(unsigned long a);

struct held {
	double longest, lasted, waited, stolen;
	long over[3], lasted300;
};

/* What the kernel knows of this thread, us. */
struct known {
	double cpu, waited, wall;
	long slept; /* times */
};

static double ticks_per_us;
static int schedstat, file = -1;
static long write_calls, written, wrote_at; /* calls for each write, and since the last one; where it goes */
static char *data;

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

static void know(struct known *known)
{
	struct rusage usage;
	char text[100] = "";
	double waited = 0;

	getrusage(RUSAGE_THREAD, &usage);
	if (pread(schedstat, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%*s %lf", &waited);
	*known = (struct known){bench_ns(CLOCK_THREAD_CPUTIME_ID) / 1e3, waited / 1e3, now_us(), usage.ru_nvcsw};
}

/* A call was long. What is known is of a moment before it, with none like that in between. */
static void look(struct held *held, double us, struct known *before)
{
	static const double limit[3] = {50, 300, 1000};
	struct known now;

	know(&now);
	double waited = now.waited - before->waited, away = 0;
	if (now.slept == before->slept)
		away = now.wall - before->wall - (now.cpu - before->cpu) - waited;
	away = away > 0 ? away : 0;
	double ours = us - waited - away;
	held->waited += waited / 1e3;
	held->stolen += away / 1e3;
	held->lasted = us > held->lasted ? us : held->lasted;
	held->lasted300 += us > limit[1];
	held->longest = ours > held->longest ? ours : held->longest;
	for (int i = 0; i < 3; i++)
		held->over[i] += ours > limit[i];
	know(before);
}

/* As a part of a call. */
static inline void write_some(int may)
{
	if (!may || file < 0 || ++written < write_calls)
		return;
	written = 0;
	if (pwrite(file, data, (size_t)(write_calls * CALL_BYTES), wrote_at) < 0)
		err(1, "write");
	wrote_at += write_calls * CALL_BYTES;
}

/* A call by pointer would not go through the PLT. */
#define TURN_OF(function, writes)                                                                                      \
	static void turn_##function(struct held *held)                                                                 \
	{                                                                                                              \
		const unsigned long worth = (unsigned long)(5 * ticks_per_us);                                         \
		struct known known;                                                                                    \
                                                                                                                       \
		know(&known);                                                                                          \
		unsigned long before = read_tsc(), longest = 0;                                                        \
		for (int i = 0; i < TURN; i++) {                                                                       \
			function(1);                                                                                   \
			write_some(writes);                                                                            \
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
TURN_OF(bench_plt, 0)
TURN_OF(bench_none, 1)

static void print(const char *name, const struct held *held)
{
	printf("%s %.1f %ld %ld %ld %.1f %ld %.1f %.1f\n", name, held->longest, held->over[0], held->over[1],
		held->over[2], held->lasted, held->lasted300, held->waited, held->stolen);
}

int main(int argc, char **argv)
{
	struct held traced = {0}, untraced = {0};
	cpu_set_t set;

	if (argc != 3 && argc != 5)
		errx(2, "Usage: hold_cost CPU CALLS [FILE SIZE]");
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "CPU %s", argv[1]);
	schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (argc == 5) {
		write_calls = atol(argv[4]) / CALL_BYTES;
		data = calloc((size_t)write_calls, CALL_BYTES);
		file = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (!data || write_calls < 1 || file < 0)
			err(1, "%s", argv[3]);
		for (long i = 0; i < write_calls * CALL_BYTES; i += 64)
			data[i] = 1;
	}
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
