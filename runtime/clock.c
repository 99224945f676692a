/* SPDX-License-Identifier: MIT */
#include "runtime/clock.h"

#include <cpuid.h> /* __get_cpuid */

#include "x86_64/tramp.h" /* tramp_clock */

static enum trace_clock kind = TRACE_CLOCK_TSC;
static int (*get_time)(clockid_t, struct timespec *);

static uint64_t read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t read_time(clockid_t clock)
{
	struct timespec t;

	get_time(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPUID 80000007h, EDX bit 8: the TSC runs at one rate whatever the processor's state. */
static int tsc_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

enum trace_clock clock_init(enum trace_clock wanted, int (*gettime)(clockid_t, struct timespec *))
{
	get_time = gettime;
	kind = wanted ? wanted : tsc_is_invariant() ? TRACE_CLOCK_TSC : TRACE_CLOCK_MONOTONIC;
	return kind;
}

enum trace_clock clock_kind(void)
{
	return kind;
}

uint64_t tramp_clock(void)
{
	return read_time(CLOCK_MONOTONIC);
}

uint64_t clock_now(void)
{
	return kind == TRACE_CLOCK_TSC ? read_tsc() : read_time(CLOCK_MONOTONIC);
}

void clock_pair(struct trace_pair *pair)
{
	uint64_t best = ~0ull;

	for (int i = 0; i < 5; i++) {
		uint64_t before = read_tsc();
		uint64_t mono = read_time(CLOCK_MONOTONIC);
		uint64_t middle = read_tsc();
		uint64_t real = read_time(CLOCK_REALTIME);
		if (middle - before >= best)
			continue;
		best = middle - before;
		pair->ticks = kind == TRACE_CLOCK_TSC ? before + (middle - before) / 2 : mono;
		pair->mono = mono;
		pair->real = real;
	}
}
