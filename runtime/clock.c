/* SPDX-License-Identifier: MIT */
#include "runtime/clock.h"

#include <cpuid.h> /* __get_cpuid */

#include "runtime/sys.h"
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

/*
 * Does the TSC run at one rate, whatever the processor's state? A kernel that keeps time by it says so. Others (paravirtual clocks) tell
 * nothing: CPUID 80000007h, EDX bit 8; not asked first, since it costs some 20 us in a virtual machine.
 */
static int tsc_is_invariant(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[8] = "";
	unsigned a, b, c, d;
	long fd = sys_open(path, O_RDONLY, 0);

	if (fd >= 0) {
		sys_read((int)fd, name, sizeof(name));
		sys_close((int)fd);
	}
	if (sys_same(name, "tsc\n", 4))
		return 1;
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

uint64_t clock_ticks(uint64_t ns)
{
	static struct trace_pair first; /* written once, in la_version or under the process lock */
	struct trace_pair now;

	if (kind == TRACE_CLOCK_MONOTONIC)
		return ns;
	if (!first.ticks)
		clock_pair(&first);
	do
		clock_pair(&now);
	while (now.mono - first.mono < 1000000);
	uint64_t ticks = now.ticks - first.ticks, time = now.mono - first.mono;
	while (ticks >> 32 || time >> 32) {
		ticks >>= 1;
		time >>= 1;
	}
	return ns * ticks / time;
}
