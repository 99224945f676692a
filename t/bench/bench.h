/* SPDX-License-Identifier: MIT */
/* What all programs that measure here need. */
#ifndef XAUDIT_BENCH_H
#define XAUDIT_BENCH_H

#include <time.h>

/* What the clock says, in ns. */
static inline double bench_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* For qsort() of doubles: the smallest first. */
static inline int bench_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
