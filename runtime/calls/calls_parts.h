/* SPDX-License-Identifier: MIT */
/*
 * What calls_stack.c stands on. Of stacks that show to be two, or to be another thread's: who gets which part, and
 * which struct (runtime/calls/calls.h); ends of calls; stacks in frames. For these files and calls.c alone; all
 * functions: on the thread, async-signal-safe, no libc, no lock held.
 */
#ifndef XAUDIT_CALLS_PARTS_H
#define XAUDIT_CALLS_PARTS_H

#include "runtime/process/process.h"
#include "runtime/process/thread.h"

/* The outermost open call at or below the slot; 0: the chain is damaged, or there is none any more. */
uint64_t calls_outermost(const struct stack *stack, uint64_t slot);

/*
 * calls_is_intercepted() for memory that may be gone at any moment, by the lower halves of the labels: no other address
 * on a stack has such a lower half.
 */
int calls_holds_label(uint64_t slot);

/*
 * Is the word where the call's return address was still what we or the sled's caller put there? Memory may be gone
 * since, but for the page of `here`, which the thread is seen to use.
 */
int calls_is_held(uint64_t slot, uint64_t here);

static inline const struct thread *calls_runner(const struct stack *stack)
{
	/* Relaxed: come() in calls_stack.c says what is ordered. */
	return __atomic_load_n(&stack->runner, __ATOMIC_RELAXED);
}

/* Another thread's record: are its events on the stack? */
static inline int calls_is_on(const struct thread *other, const struct stack *stack)
{
	/* Relaxed, both: records stay; and as above. */
	return __atomic_load_n(&other->tid, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&other->hot.stack, __ATOMIC_RELAXED) == &stack->hot;
}

/* Was another thread seen there last, and nowhere else since? Then calls there may begin and end at this moment. */
static inline int calls_is_anothers(const struct stack *stack, const struct thread *thread)
{
	const struct thread *runner = calls_runner(stack);

	return runner && runner != thread && calls_is_on(runner, stack);
}

/*
 * Calls that are open at or below the limit are another stack's; of `other`, if that is not NULL, which is on it now.
 * Returns the stack that `here` lies on, above the limit; NULL: it can't be parted.
 */
struct stack *calls_part(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here, const struct thread *other);

/*
 * The other thread is on the stack to which this one comes, as it seems, and where no call was open at or below the
 * limit, which is below the slot. Returns the stack that is this thread's from here on, and that the slot lies on;
 * NULL: something has changed.
 */
struct stack *calls_take(
	struct thread *thread, struct stack *stack, uint64_t limit, uint64_t slot, struct thread *other);

/*
 * Two threads have events on the stack's number, of calls that were open then: readers go by time. Once for all; before
 * the second thread's event of such a call is stored, or that the stack was two.
 */
static inline void calls_note_shared(void)
{
	/* Relaxed: readers look at it when they have found such events. */
	if (process_head())
		__atomic_store_n(&process_head()->moved, 1, __ATOMIC_RELAXED);
}

/* The stack is the thread's from here on. Lock held. */
void calls_give_to(struct thread *thread, struct stack *stack);

/* The thread comes back to a stack that another one had meanwhile, and nobody has now: with its own struct. */
struct stack *calls_go_on(struct thread *thread, struct stack *stack, uint64_t slot);

/* ---- ends: calls_ends.c ---- */

/* Ends every open call on the stack at or below the slot by an event of this type. */
void calls_end(struct thread *thread, struct stack *stack, uint64_t slot, enum trace_type type);

/* All calls on the stack, which were another thread's that is gone: handlers are not told. */
void calls_end_quietly(struct thread *thread, struct stack *stack);

/* ---- stacks in frames: calls_gaps.c ---- */

/*
 * The thread enters a call at `here` on its own stack, above a call that is open at or below the limit: `here` is on a
 * stack in one of that stack's frames. Returns this, which becomes the thread's; NULL: it is not so, or there is no
 * memory.
 */
struct stack *calls_carve(struct thread *thread, struct stack *stack, uint64_t limit, uint64_t here);

/* Ends what is over in gaps of a stack that is the thread's. */
void calls_end_gaps(struct thread *thread, struct stack *stack);

/* May something be over in the stack's gaps? */
static inline int calls_gaps_may_end(const struct stack *stack, const struct thread *thread)
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
