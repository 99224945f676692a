/* SPDX-License-Identifier: MIT */
/* The time on CLOCK_MONOTONIC, for what waits, and for what says how long it took. Any thread, any time. */
#ifndef XAUDIT_TOOL_NOW_H
#define XAUDIT_TOOL_NOW_H

#include <stdint.h>
#include <time.h>

/* ns */
static inline uint64_t tool_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int64_t tool_now_ms(void)
{
	return (int64_t)(tool_now() / 1000000);
}

#endif
