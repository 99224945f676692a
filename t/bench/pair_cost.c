/* SPDX-License-Identifier: MIT */
/*
 * pair_cost LIBRARY SYMBOL PAIRS: opens and closes the library so many times, and prints "FIRST BEST MEDIAN", the
 * microseconds that a pair takes: the first one and the fastest of the others by the clock on the wall, and the median
 * of these by processor time, which other load does not lengthen so much. The symbol is one of the library, which must
 * not stay when it is closed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

static double now_us(clockid_t clock)
{
	return bench_ns(clock) / 1e3;
}

int main(int argc, char **argv)
{
	int pairs = argc == 4 ? atoi(argv[3]) : 0;

	if (pairs < 2)
		errx(2, "Usage: pair_cost LIBRARY SYMBOL PAIRS");
	double *us = calloc((size_t)pairs, sizeof(*us)), *cpu = calloc((size_t)pairs, sizeof(*cpu));
	if (!us || !cpu)
		err(1, "calloc");
	for (int i = 0; i < pairs; i++) {
		double cpu_start = now_us(CLOCK_THREAD_CPUTIME_ID), start = now_us(CLOCK_MONOTONIC);
		void *library = dlopen(argv[1], RTLD_NOW);
		if (!library)
			errx(1, "%s", dlerror());
		double opened = now_us(CLOCK_MONOTONIC), cpu_opened = now_us(CLOCK_THREAD_CPUTIME_ID);
		if (!dlsym(library, argv[2]))
			errx(1, "%s", dlerror());
		double cpu_closing = now_us(CLOCK_THREAD_CPUTIME_ID), closing = now_us(CLOCK_MONOTONIC);
		if (dlclose(library))
			errx(1, "%s", dlerror());
		us[i] = now_us(CLOCK_MONOTONIC) - closing + opened - start;
		cpu[i] = now_us(CLOCK_THREAD_CPUTIME_ID) - cpu_closing + cpu_opened - cpu_start;
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
			errx(1, "%s stays when it is closed", argv[1]);
	}
	double first = us[0];
	qsort(us + 1, (size_t)pairs - 1, sizeof(*us), bench_by_size);
	qsort(cpu + 1, (size_t)pairs - 1, sizeof(*cpu), bench_by_size);
	printf("%.1f %.1f %.1f\n", first, us[1], cpu[1 + (pairs - 1) / 2]);
	return 0;
}
