/* SPDX-License-Identifier: MIT */
/*
 * call_none [SLICES]: without a word, makes one call into a library, and nothing else. Else prints "BEST MEDIAN": the
 * nanoseconds of a call in the fastest and in the median one of so many slices of 100 000 calls.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define SLICE 100000

unsigned long bench_none(unsigned long a);

int main(int argc, char **argv)
{
	int slices = argc > 1 ? atoi(argv[1]) : 0;
	unsigned long a = bench_none(0);

	if (argc < 2)
		return a != 1;
	double *ns = slices > 0 ? calloc((size_t)slices, sizeof(*ns)) : NULL;
	if (!ns)
		return 2;
	for (int slice = 0; slice < slices; slice++) {
		double start = bench_ns(CLOCK_MONOTONIC);
		for (long i = 0; i < SLICE; i++)
			a = bench_none(a);
		ns[slice] = (bench_ns(CLOCK_MONOTONIC) - start) / SLICE;
	}
	qsort(ns, (size_t)slices, sizeof(*ns), bench_by_size);
	printf("%.4f %.4f\n", ns[0], ns[slices / 2]);
	return a != 1 + (unsigned long)slices * SLICE;
}
