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
 * A thread may be muted (runtime/values/actions.h): then its calls are left out, but of functions with TRAMP_STARTS,
 * which ask once more. Its open calls end in the trace. Once there was such a thread, all calls are asked for.
 *
 * Depth, and the call below which calls are recorded, are known per stack (x86_64/mirror.h), by the thread that runs on
 * it.
 */
#ifndef XAUDIT_FILTER_H
#define XAUDIT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/process/thread.h" /* struct thread */
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

/* The rules' time, in ticks. */
uint64_t filter_ticks(void);

/* Calls below this function are recorded, and itself. Lock held. */
void filter_below(uint32_t id);

/* From now on, calls of this function are only counted. Returns 0 when they were before, or can't be. Lock held. */
bool filter_count_only(uint32_t id);

/* Functions and probes of this id may start recording, or not any more: bit TRAMP_STARTS of the table. Lock held. */
void filter_starts(uint32_t id, bool may);

static inline bool filter_may_start(uint32_t id)
{
	/* Relaxed, as in filter_opens(). */
	return id < TRAMP_TABLE_IDS && __atomic_load_n(&tramp_table[id], __ATOMIC_RELAXED) & TRAMP_STARTS;
}

/* Nothing more of the calling thread is recorded, or all again. */
void filter_mute(struct thread *thread, bool is);

/*
 * The call whose entry had this word is over, at this clock (its low half): if the entry is the thread's last event and
 * younger than the rules' time, it is taken back and counted as a short call. Returns 1, or 0: the end must be
 * recorded. By the thread itself.
 */
bool filter_take_back(struct thread *thread, uint32_t word, uint32_t clock);

/*
 * Counts the open calls of each part anew, after a stack was parted: both parts have the opener that was the whole
 * stack's. Lock held.
 */
void filter_count(struct stack *stack);

/* The low half of the return address of an XRay call that has just ended, or of the call that took its place. */
static inline uint32_t filter_return(uint64_t x)
{
	return (uint32_t)*(const uint64_t *)(uintptr_t)(x | 8);
}

/*
 * Is the slot of a new call below a function below which calls are recorded? stack->opener is the slot of the outermost
 * such call. Any call that is open in that slot counts, since the function may have ended by a jump to another one,
 * which took over the slot. An XRay function's slot is free after it jumped; then the low half of its return address is
 * noted (stack->tailed): the call that it jumped to has the same one in the same place. By the thread that runs on the
 * stack.
 */
static inline bool filter_is_below(struct stack *stack, uint64_t slot)
{
	const uint64_t opener = stack->opener;

	if (!opener)
		return false;
	if (!stack->tailed && stack_has_calls(stack) && opener >= stack->hot.top)
		return true;
	/* Calls of a handler lie deeper: they end nothing. */
	if (stack->tailed && (slot | 8) < (opener | 8))
		return false;
	/* The slots of two calls with one return address: X of an XRay call, and 8 bytes above it. */
	if (stack->tailed && (slot | 8) == (opener | 8) && filter_return(opener) == stack->tailed)
		return true;
	stack->tailed = 0;
	stack->opener = 0;
	return false;
}

/* May one more call of this function be recorded on the stack, at the slot? By the thread that runs on the stack. */
static inline bool filter_admits(struct stack *stack, uint64_t slot, uint32_t id)
{
	if (!stack_has_calls(stack))
		stack->depth = 0;
	return !(filter_options.below && !filter_is_below(stack, slot) && !filter_opens(id)) &&
	       !(filter_options.depth && stack->depth >= filter_options.depth);
}

/* A call that was admitted is open, or takes the place of another one there. By the thread that runs on the stack. */
static inline void filter_opened(struct stack *stack, uint64_t slot, uint32_t id)
{
	if ((stack->tailed && (slot | 8) >= (stack->opener | 8)) || (!stack->opener && filter_opens(id))) {
		stack->opener = slot;
		stack->tailed = 0;
	}
}

/*
 * The call at the slot is not open any more on the stack; 0: one of several in a frame, whose entry stays. By the
 * thread that runs on the stack.
 */
static inline void filter_left(struct stack *stack, uint64_t slot)
{
	if (!(tramp_checks & TRAMP_CHECK_FILTERS))
		return;
	/* Never below 0: frames may have been there before we counted (a coroutine of another thread). */
	if (stack->depth)
		stack->depth--;
	if (slot && stack->opener == slot && !stack->tailed)
		stack->opener = 0;
}

#endif
