/* SPDX-License-Identifier: MIT */
/*
 * Stacks in frames of a thread's own stack, and other parts of that (x86_64/mirror.h): where they begin; when their
 * calls are over. On the thread, async-signal-safe, no libc; no lock held.
 */
#ifndef XAUDIT_RUNTIME_CALLS_CALLS_GAPS_H
#define XAUDIT_RUNTIME_CALLS_CALLS_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/calls/calls_owner.h"
#include "runtime/process/thread.h"

/*
 * The thread enters a call at `here` on its own stack, above a call that is open at or below the limit: `here` is on a
 * stack in one of that stack's frames. Returns this, which becomes the thread's; NULL: it is not so, or there is no
 * memory.
 */
struct stack *calls_carve(struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here);

/* Ends what is over in gaps of a stack that is the thread's. */
void calls_end_gaps(struct thread *thread, struct stack *stack);

/* May something be over in the stack's gaps? */
static inline bool calls_gaps_may_end(const struct stack *stack, const struct thread *thread)
{
	return stack->gaps && stack->gaps->high <= stack->hot.top && calls_runner(stack) == thread;
}

/*
 * The thread has come to a stack that has gaps, or may lie in one: ends what is over there. Returns the stack that the
 * slot lies on then, which is the thread's.
 */
struct stack *calls_look_at_gaps(struct thread *thread, struct stack *stack, uint64_t slot);

enum calls_parts_of {
	CALLS_OF_THREAD,  /* that is the calling thread */
	CALLS_OF_EARLIER, /* one that is gone; the record may be the same: handlers are not told */
};

/* All calls are over that are open on parts of the thread's own stack `stack`, or in its frames, and are `runner`'s. */
void calls_unwind_parts(
	struct thread *thread, struct stack *stack, const struct thread *runner, enum calls_parts_of of);

#endif
