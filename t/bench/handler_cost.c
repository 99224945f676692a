#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * handler_cost: prints, for ways of handling a call and its return, the nanoseconds of one call: the best of some hundred runs of 2 000 calls. The ways take turns.
 * The recorder writes to a flight recorder in all ways but the first.
 */
#include <sched.h>
#include <stdio.h>

#include "runtime/epoch.h"
#include "runtime/handlers.h"
#include "runtime/recorder.h"
#include "t/core.h"

#define CALLS	2000
#define ROUNDS	400
#define RING	(4ul << 20)
#define ALL	5

static struct traced traced;
static unsigned long calls;

static __attribute__((noinline)) long add_one(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((target("general-regs-only"))) static void empty(const struct handlers_event *event, void *argument)
{
	(void)event;
	++*(unsigned long *)argument;
}

static double run(uint64_t function)
{
	uint64_t before = core_now_ns();

	for (long i = 0; i < CALLS; i++)
		((long (*)(long))(uintptr_t)function)(i);
	return (double)(core_now_ns() - before) / CALLS;
}

static void set(int entry, int exit, unsigned flags)
{
	if ((entry && handlers_set(HANDLERS_ENTRY, empty, &calls, flags)) || (exit && handlers_set(HANDLERS_EXIT, empty, &calls, flags)))
		printf("no handler\n");
}

int main(void)
{
	static const char *const name[] = {"untraced", "recorder", "entry, general registers", "entry and exit, general registers", "entry, all registers",
		"entry and exit, all registers"};
	double best[] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	sched_setaffinity(0, sizeof(one), &one);
	core_start(core_folder(), 1ul << 20, TRACE_CLOCK_TSC);
	if (epoch_init(0))
		printf("membarrier is refused: each section pays for a fence\n");
	recorder_init(&(struct recorder_options){.mode = TRACE_MODE_RING, .ring = RING});
	handlers_name_ids(1, 1);
	traced = core_traced(TRAMP_INTERCEPT, 1, add_one);
	for (int round = 0; round < ROUNDS; round++)
		for (int way = 0; way <= ALL; way++) {
			if (way > 1)
				set(1, way & 1, way < 4 ? HANDLERS_GENERAL : 0);
			double took = run(way ? traced.call : (uint64_t)(uintptr_t)add_one);
			if (took < best[way])
				best[way] = took;
			handlers_remove(HANDLERS_ENTRY);
			handlers_remove(HANDLERS_EXIT);
		}
	for (int way = 0; way <= ALL; way++)
		printf("%-36s %7.2f   over the recorder %7.2f\n", name[way], best[way], way > 1 ? best[way] - best[1] : 0.0);
	return 0;
}
