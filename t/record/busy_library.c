/* SPDX-License-Identifier: MIT */
/*
 * The library of t/record/clock.t: functions that take as long as they are told. They store when they began and when
 * they ended, by readings that are their first and their last act.
 */
#include <stdint.h>
#include <time.h>

static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void wait_so_long(uint64_t nanoseconds, uint64_t inside[2])
{
	inside[0] = now();
	do
		inside[1] = now();
	while (inside[1] < inside[0] + nanoseconds);
}

void busy_short(uint64_t nanoseconds, uint64_t inside[2])
{
	wait_so_long(nanoseconds, inside);
}

void busy_long(uint64_t nanoseconds, uint64_t inside[2])
{
	wait_so_long(nanoseconds, inside);
}
