/* SPDX-License-Identifier: MIT */
/* The library of t/record/clock.t: functions that take as long as they are told. */
#include <stdint.h>
#include <time.h>

static inline void wait_so_long(uint64_t nanoseconds)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	uint64_t end = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + nanoseconds;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec < end);
}

void busy_short(uint64_t nanoseconds)
{
	wait_so_long(nanoseconds);
}

void busy_long(uint64_t nanoseconds)
{
	wait_so_long(nanoseconds);
}
