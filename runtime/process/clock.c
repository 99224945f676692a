/* SPDX-License-Identifier: MIT */
#include "runtime/process/clock.h"

#include <stdbool.h>
#include <sys/prctl.h> /* PR_GET_TSC */

#include "x86_64/contract.h" /* tramp_clock */
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

static enum trace_clock kind = TRACE_CLOCK_TSC;
static int (*get_time)(clockid_t, struct timespec *);

/*
 * Of the TSC: read at the start. The rate and the moment from which ticks are computed; complete when tsc_is_left is
 * 1.
 */
static struct trace_pair first, left;
static uint64_t rate; /* ticks per ns, times 2^32 */
static uint32_t tsc_is_left;

/* Acquire; pairs with the release in clock_leave_tsc(). */
static bool is_left(void)
{
	return __atomic_load_n(&tsc_is_left, __ATOMIC_ACQUIRE) != 0;
}

/* Without the vDSO, which reads the TSC. */
static int ask_kernel(clockid_t clock, struct timespec *t)
{
	return (int)sys_call(__NR_clock_gettime, clock, (long)t, 0, 0, 0, 0);
}

/* May the calling thread not read the TSC? */
static bool tsc_is_disabled(void)
{
	int state = PR_TSC_ENABLE;

	sys_call(__NR_prctl, PR_GET_TSC, (long)&state, 0, 0, 0, 0);
	return state != PR_TSC_ENABLE;
}

static uint64_t read_time(clockid_t clock)
{
	struct timespec t;

	/* Relaxed: see clock_leave_tsc(). */
	__atomic_load_n(&get_time, __ATOMIC_RELAXED)(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Does the TSC run at one rate, whatever the processor's state? A kernel that keeps time by the TSC says so. With other
 * clocks (paravirtual ones) it tells nothing: then the processor is asked, which costs some 20 us in a virtual machine.
 */
static bool tsc_is_invariant(void)
{
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[8] = "";
	long fd = sys_open(path, O_RDONLY, 0);

	if (fd >= 0) {
		sys_read((int)fd, name, sizeof(name));
		sys_close((int)fd);
	}
	if (sys_same(name, "tsc\n", 4))
		return true;
	return cpu_ticks_are_steady();
}

enum trace_clock clock_init(enum trace_clock wanted, int (*gettime)(clockid_t, struct timespec *))
{
	int disabled = tsc_is_disabled();

	get_time = disabled ? ask_kernel : gettime;
	tsc_is_left = 0;
	kind = wanted ? wanted : TRACE_CLOCK_TSC;
	if (disabled || (!wanted && !tsc_is_invariant()))
		kind = TRACE_CLOCK_MONOTONIC;
	if (kind == TRACE_CLOCK_TSC)
		clock_pair(&first);
	return kind;
}

enum trace_clock clock_source(void)
{
	return kind == TRACE_CLOCK_TSC && !is_left() ? TRACE_CLOCK_TSC : TRACE_CLOCK_MONOTONIC;
}

enum trace_clock clock_kind(void)
{
	return kind;
}

/* Of the event clock, when it is not read from the TSC. */
static uint64_t ticks_at(uint64_t mono)
{
	if (kind == TRACE_CLOCK_MONOTONIC)
		return mono;
	return left.ticks + (uint64_t)((unsigned __int128)(mono - left.mono) * rate >> 32);
}

uint64_t tramp_clock(void)
{
	return clock_now();
}

uint64_t clock_now(void)
{
	return clock_source() == TRACE_CLOCK_TSC ? cpu_ticks() : ticks_at(read_time(CLOCK_MONOTONIC));
}

/* Makes a pair without the TSC: between two readings of CLOCK_MONOTONIC. */
static void pair_by_kernel(struct trace_pair *pair)
{
	uint64_t best = ~0ull;

	for (int i = 0; i < 5; i++) {
		uint64_t before = read_time(CLOCK_MONOTONIC);
		uint64_t real = read_time(CLOCK_REALTIME);
		uint64_t length = read_time(CLOCK_MONOTONIC) - before;
		if (length >= best)
			continue;
		best = length;
		pair->mono = before + length / 2;
		pair->ticks = ticks_at(pair->mono);
		pair->real = real;
	}
}

void clock_pair(struct trace_pair *pair)
{
	uint64_t best = ~0ull;

	if (clock_source() != TRACE_CLOCK_TSC) {
		pair_by_kernel(pair);
		return;
	}
	for (int i = 0; i < 5; i++) {
		uint64_t before = cpu_ticks();
		uint64_t mono = read_time(CLOCK_MONOTONIC);
		uint64_t middle = cpu_ticks();
		uint64_t real = read_time(CLOCK_REALTIME);
		if (middle - before >= best)
			continue;
		best = middle - before;
		pair->ticks = before + (middle - before) / 2;
		pair->mono = mono;
		pair->real = real;
	}
}

/*
 * What of the TSC passed since the first pair, and how long that was: shortened alike to 32 bits. Waits until it is a
 * millisecond.
 */
static struct trace_pair since_first(uint64_t *ticks, uint64_t *time)
{
	struct trace_pair now;

	do
		clock_pair(&now);
	while (now.mono - first.mono < 1000000);
	*ticks = now.ticks - first.ticks;
	*time = now.mono - first.mono;
	while (*ticks >> 32 || *time >> 32) {
		*ticks >>= 1;
		*time >>= 1;
	}
	return now;
}

uint64_t clock_ticks(uint64_t ns)
{
	uint64_t ticks, time;

	if (kind == TRACE_CLOCK_MONOTONIC)
		return ns;
	since_first(&ticks, &time);
	/* Both have 32 bits, so the remainder's product has 64. */
	return ns / time * ticks + ns % time * ticks / time;
}

void clock_leave_tsc(void)
{
	uint64_t ticks, time;

	if (clock_source() == TRACE_CLOCK_TSC) {
		left = since_first(&ticks, &time);
		rate = (ticks << 32) / time;
	}
	/* Relaxed: the calling thread sees it at once, and for other threads both functions tell the same. */
	__atomic_store_n(&get_time, ask_kernel, __ATOMIC_RELAXED);
	/* Release: the rate is there before; pairs with the acquire in is_left(). */
	__atomic_store_n(&tsc_is_left, 1, __ATOMIC_RELEASE);
}
