/* SPDX-License-Identifier: MIT */
/*
 * Actions: what else is done where calls of a function, or a probe, are recorded (struct plan_action of format/plan.h).
 *
 * Who has decided that an event is recorded asks for each action whether its own conditions hold, and calls
 * actions_do(). An action never leaves an event out. What it counts (every, once, at-most) is counted for the process,
 * by all threads, with relaxed atomics, in memory that fork wipes: a forked child begins anew.
 *
 *	mark		a custom event behind the event
 *	start, stop	recording, as xaudit_start() and xaudit_stop() do it: under the process lock, which no thread in
 *			the middle of an event holds. `start` is asked for only while it is stopped; then
 *			dispatch leads functions and probes with TRAMP_STARTS to where they would be recorded
 *			(DISPATCH_WATCH), and these ask actions_are_quiet() first
 *	thread		the same for one thread, by a flag of its record that the filter looks at (filter.h)
 *	snapshot	given to who makes them (actions_init()). Of calls that have not returned (`running longer`) no
 *			thread does it: the entry is marked, and others look (running.h)
 *
 * Plans are taken under the process lock. All else: any thread, async-signal-safe, no lock on the way of an event
 * that is not due, no libc.
 */
#ifndef XAUDIT_RUNTIME_VALUES_ACTIONS_H
#define XAUDIT_RUNTIME_VALUES_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan.h"
#include "runtime/base/arena.h"
#include "runtime/process/thread.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/filter.h"
#include "runtime/values/part.h"
#include "runtime/values/running.h"

#define ACTIONS_PUT 16 /* bytes that a condition writes, most */

/* In memory that fork wipes. Relaxed, all. */
struct action_counts {
	uint64_t calls; /* for which its conditions held */
	uint64_t last;	/* clock of the last time that it was done; 0: never */
	uint32_t done, unused; /* once */
};

struct values_action {
	const struct plan_action *plan;
	const char *text;
	struct values_part entry, end; /* conditions: they put nothing */
	uint64_t longer, at_most;      /* ticks */
	struct action_counts *counts;
	struct action_counts *mapped; /* of the plan's first: those of all */
	struct values_action *next; /* of the same function or probe; NULL. At the end only the first 32 are done */
	uint32_t snapshot;   /* what the maker of snapshots knows it by */
};

/* Given once, before the first plan: how snapshots are asked for. */
struct actions_hooks {
	/* A number, below 32, for snapshots of that kind. UINT32_MAX: none is left. Lock held */
	uint32_t (*number)(const struct running_wanted *wanted);
	/* Asks for one. Lock not held */
	void (*snapshot)(uint32_t number);
};

void actions_init(const struct actions_hooks *hooks);

/*
 * The actions of a plan, of `size` bytes, in which there is room for them: an array in its order. NULL: it has none, or
 * *error says why not: -EBADMSG, -ENOMEM.
 */
struct values_action *actions_take(const struct plan_head *plan, size_t size, struct arena *memory, int *error);

/* Nobody will do any of them: gives back what the arena does not hold. first: what actions_take() returned. */
void actions_give_back(const struct values_action *first, const struct plan_head *plan);

/* Is it to be done when the call ends? */
static inline bool actions_is_at_end(const struct values_action *action)
{
	return action->plan->flags & PLAN_ACTION_AT_END;
}

/* Is it for calls that have not returned? Then it is never done by a thread. */
static inline bool actions_is_running(const struct values_action *action)
{
	return action->plan->flags & PLAN_ACTION_RUNNING;
}

/* The bit of side_entry.running for such a one; 0: it has none. */
static inline uint32_t actions_bit(const struct values_action *action)
{
	return action->snapshot < 32 ? 1u << action->snapshot : 0;
}

/* Is nothing recorded on this thread now, by a stop of the process or of itself? */
static inline bool actions_are_quiet(const struct thread *thread)
{
	return dispatch_now() == DISPATCH_WATCH || thread_is_muted(thread);
}

/* Does the action have something recorded again that is quiet now? */
bool actions_may_start(const struct values_action *action, const struct thread *thread);

/* Does one of them start recording, of the process or a thread? */
bool actions_have_start(const struct values_action *first);

/* Would both lists do the same, under the same conditions? What was counted for one then counts for the other. */
bool actions_are_same(const struct values_action *a, const struct values_action *b);

/* Those of the first list that would do the same as one of the second go on with what was counted for that. */
void actions_go_on(struct values_action *first, const struct values_action *before);

/* Its conditions hold, on this thread and stack: does it, if it is one in so many. */
void actions_do(const struct values_action *action, struct thread *thread, struct stack *stack);

#endif
