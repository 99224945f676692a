/* SPDX-License-Identifier: MIT */
/*
 * The time on CLOCK_MONOTONIC, for what waits, and for what says how long it took; or on another clock. Any thread. For
 * the reader's library, too.
 */
#ifndef XAUDIT_TOOL_NOW_H
#define XAUDIT_TOOL_NOW_H

#include <stdint.h>
#include <time.h>

/* ns */
static inline uint64_t tool_now_on(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t tool_now(void)
{
	return tool_now_on(CLOCK_MONOTONIC);
}

static inline int64_t tool_now_ms(void)
{
	return (int64_t)(tool_now() / 1000000);
}

#endif
