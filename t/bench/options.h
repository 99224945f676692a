/* SPDX-License-Identifier: MIT */
/* Options of programs that measure what calls cost: [-c CPU] [-n CALLS] [-r ROUNDS]. Include it after _GNU_SOURCE. */
#ifndef XAUDIT_BENCH_OPTIONS_H
#define XAUDIT_BENCH_OPTIONS_H

#include <err.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct bench_options {
	long calls, rounds; /* first those that are usual */
};

/*
 * Takes them, and goes to that processor; words follow from optind on. Returns false after a line on stderr by
 * getopt().
 */
static inline bool bench_take_options(struct bench_options *options, int argc, char **argv)
{
	int cpu = -1;

	for (int c; (c = getopt(argc, argv, "c:n:r:")) != -1;) {
		if (c == 'c')
			cpu = atoi(optarg);
		else if (c == 'n')
			options->calls = atol(optarg);
		else if (c == 'r')
			options->rounds = atol(optarg);
		else
			return false;
	}
	if (cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) < 0)
			err(1, "CPU %d", cpu);
	}
	return true;
}

#endif
