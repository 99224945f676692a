/* SPDX-License-Identifier: MIT */
/*
 * Leaves out calls while recording: of functions that are only counted (throttle), deeper than a depth, outside of
 * certain functions, or shorter than a time.
 *
 * The trampolines look at one word, tramp_checks, before each event: 0 as a rule. Otherwise at a table of one byte per
 * function id, and, where the rules have filters, they ask (filter_calls.c). The filters of the rules are set in
 * la_version and stay; functions become counted one by one, while threads run: single bytes, relaxed; a thread that
 * sees one late records a call more.
 *
 * Depth and being below a function are counted per stack (x86_64/mirror.h), by the thread that runs on it.
 */
#ifndef XAUDIT_FILTER_H
#define XAUDIT_FILTER_H

#include <stdint.h>

#include "runtime/thread.h" /* struct thread */
#include "x86_64/mirror.h"  /* struct stack */

/* Longer calls are never left out: the clock's low half must do to compare. */
#define FILTER_TIME_MAX 100000000ull

struct filter_options {
	uint32_t depth; /* 0: any */
	uint64_t time;	/* ns, up to FILTER_TIME_MAX; 0: any */
	int below;	/* calls count only below functions that filter_below() names */
};

/* What filter_init() was given. */
extern struct filter_options filter_options __attribute__((visibility("hidden")));

/* A bit of tramp_table that the trampolines know nothing of: calls are recorded below the function, and itself. */
#define FILTER_BELOW 2

/* Is this such a function? 0 or 1. */
static inline uint32_t filter_opens(uint32_t id)
{
	/* Relaxed: a byte that orders nothing. */
	return id < TRAMP_TABLE_IDS && __atomic_load_n(&tramp_table[id], __ATOMIC_RELAXED) & FILTER_BELOW ? 1 : 0;
}

/* la_version, after clock_init(). One thread. Returns 0 or -errno. */
int filter_init(const struct filter_options *options);

/* Calls below this function are recorded, and itself. Lock held. */
void filter_below(uint32_t id);

/* From now on, calls of this function are only counted. Returns 0 when they were before, or can't be. Lock held. */
int filter_count_only(uint32_t id);

/*
 * The call whose entry had this word is over, at this clock (its low half): if the entry is the thread's last event and
 * younger than the rules' time, it is taken back and counted as a short call. Returns 1, or 0: the end must be
 * recorded. By the thread itself.
 */
int filter_take_back(struct thread *thread, uint32_t word, uint32_t clock);

/* Counts the stack's open calls anew, after it was parted. Lock held. */
void filter_count(struct stack *stack);

/* May one more call of this function be recorded on the stack? By the thread that runs on the stack. */
static inline int filter_admits(struct stack *stack, uint32_t id)
{
	if (!stack_has_calls(stack))
		stack->depth = stack->below = 0;
	return !(filter_options.below && !stack->below && !filter_opens(id)) &&
	       !(filter_options.depth && stack->depth >= filter_options.depth);
}

/* A call of this function is not open any more on the stack. By the thread that runs on the stack. */
static inline void filter_left(struct stack *stack, uint32_t id)
{
	if (!(tramp_checks & TRAMP_CHECK_FILTERS))
		return;
	/* Never below 0: frames may have been there before we counted (a coroutine of another thread). */
	if (stack->depth)
		stack->depth--;
	if (stack->below && filter_opens(id))
		stack->below--;
}

#endif
