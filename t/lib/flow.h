/* SPDX-License-Identifier: MIT */
/*
 * Scenarios of calls, for tests of the mirror's contents when stacks are left in every possible way. Each scenario runs
 * in a process of its own with traced functions f[0], f[1], ...; then its trace is compared as text: for each event a
 * letter (E entry, X exit, T tail, U unwind, P point) and an id.
 *
 * To be included by the file that includes t/lib/tap.h.
 */
#ifndef XAUDIT_T_LIB_FLOW_H
#define XAUDIT_T_LIB_FLOW_H

#include <stdint.h>
#include <unistd.h>

#include "runtime/process/thread.h"
#include "t/lib/core.h"

#define FUNCTIONS  10
#define FLOW_CHUNK (2 * TRACE_CHUNK_MIN) /* a scenario stays in its first chunk */

/* id n, unless the scenario says otherwise */
static struct traced f[FUNCTIONS];

struct outcome {
	pid_t pid;
	long result[4];
	int wrong;
	uint64_t begun, slow, took; /* ns: when it started; how long it waited; how long all else took */
};

static struct outcome *outcome;

/* Clock of the scenario's trace. */
__attribute__((unused)) static enum trace_clock flow_clock = TRACE_CLOCK_TSC;

#define F(n) CALL(long (*)(long), f[n])

/* A result that the compiler can't return by a tail call. */
#define KEEP(x)                                                                                                        \
	({                                                                                                             \
		long kept = (x);                                                                                       \
		__asm__ volatile("" : "+r"(kept));                                                                     \
		kept;                                                                                                  \
	})

/* Where times count: a scenario that took longer, since it had no processor, is run again. 0: they don't. */
__attribute__((unused)) static uint64_t flow_most;

static int (*flow_scenario)(void *);

static int run_timed(void *argument)
{
	int status = flow_scenario(argument);

	outcome->took = core_now_ns() - outcome->begun - outcome->slow;
	return status;
}

/* Runs the scenario in a process of its own and gives the events of thread file 0. */
static struct reading run(int (*scenario)(void *), const char *what)
{
	struct reading reading;
	int status, tries = 0;

	flow_scenario = scenario;
	do {
		outcome = core_shared(sizeof(*outcome));
		status = core_child(run_timed, NULL, 60);
	} while (flow_most && outcome->took > flow_most && tries++ < 100);
	is_int(status, 0, "%s: the program runs to its end", what);
	is_int(outcome->wrong, 0, "%s: results are right", what);
	if (core_read(core_folder(), outcome->pid, 0, FLOW_CHUNK, &reading))
		memset(&reading, 0, sizeof(reading));
	is_str(reading.damage, NULL, "%s: the file keeps to the format", what);
	is_int((long long)(reading.lost + reading.holes), 0, "%s: nothing is lost", what);
	return reading;
}

static const char *as_text(const struct reading *reading)
{
	static char text[4096];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < reading->count && length + 20 < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c%u", i ? " " : "",
			"?EXTUP"[reading->event[i].type], reading -> event[i].id);
	return text;
}

__attribute__((unused)) static void check(int (*scenario)(void *), const char *what, const char *expected)
{
	struct reading reading = run(scenario, what);

	is_str(as_text(&reading), expected, "%s: the events are right", what);
	core_forget(&reading);
}

static void start(void)
{
	core_start(core_folder(), FLOW_CHUNK, flow_clock);
	outcome->pid = getpid();
	outcome->begun = core_now_ns();
}

static void expect(long got, long wanted)
{
	outcome->wrong += got != wanted;
}

/* Words recorded so far: the scenarios stay in their first chunk. */
__attribute__((unused)) static long events(void)
{
	const struct thread *thread = (const struct thread *)tramp_self;

	return thread->chunk ? (long)((thread->hot.cursor - (uint64_t)(uintptr_t)(thread->chunk + 1)) / 8) : 0;
}

__attribute__((unused)) static long leaf(long x)
{
	return x + 1;
}

#endif
