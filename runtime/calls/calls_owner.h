/* SPDX-License-Identifier: MIT */
/*
 * Whose a stack is (calls.h): of stacks that show to be two, or to be another thread's, who gets which part, and which
 * struct. For the files of calls.h alone; all functions: on the thread, async-signal-safe, no libc, no lock held.
 *
 * Two threads at once. A stack is one thread's: that thread's events are there (tramp_state.stack), and it is the
 * stack's runner. A thread that comes looks whether the runner is still there. If not, the thread makes itself the
 * runner, and looks once more; then its events are there, and it looks whether it still is the runner. With a full
 * barrier before each of these two looks, of two threads that come at the same moment at least one sees the other. And
 * as long as a thread is there, no other one is the runner, lest a third one miss it. Whoever finds another thread
 * there:
 *  - If calls are open below its own frames, these are the other one's, or a third stack's; the stack is parted above
 *    them, and the other one keeps the lower part, without notice. Its calls come and go meanwhile: no link above them
 *    changes, and a top that lies above all of a stack's slots is as good as its end. TRACE_PART_OUTER tells.
 *    Likewise if the other one begins a call there right after the look.
 *  - Else the kernel is asked where the other one is. If it waits in a system call, with its stack pointer on this
 *    stack, the two are parted in the middle between them, wherever calls are open.
 *  - If the innermost call there, which is above, has no label, the other one is just entering or leaving it: they are
 *    parted in the middle, too.
 *  - Else the other one runs, and may have left the stack without an event, as threads do that go on with each other's
 *    coroutines. The stack becomes that of the thread that comes. The other one is sent away: its events are on no
 *    stack, so its next event looks for its stack. If it is still on this one, the first case holds as soon as calls of
 *    both are open.
 *
 * Between two instructions. A thread that is sent away may be in the middle of entering or leaving a call, or in a
 * handler that has interrupted that: its trampoline goes on with the struct that it has loaded, and stores a top there.
 * So that struct stays with the thread (thread_kept.away), and the calls in it go to another struct, with the same
 * number in the trace (mirror_replace()). When the thread comes back to any part of the stack, it gets its own struct
 * again, with what it has stored there meanwhile. For the same reason a thread keeps its struct where a stack is parted
 * while the thread is there; a thread that comes gets another struct. A barrier of all threads (epoch_fence_all()),
 * between sending away and the look at the innermost call, leaves two cases. Either the trampoline finds that the
 * thread is away before it stores its event: then C stores the event, on the stack that the thread comes to. Or the
 * trampoline looked before the barrier: then the other thread sees the top that was stored before that look, and no
 * label in its slot. The barrier is left out under a filter of system calls. All of this is left out where threads took
 * a stack from each other often, and nothing showed that it is two.
 */
#ifndef XAUDIT_RUNTIME_CALLS_CALLS_OWNER_H
#define XAUDIT_RUNTIME_CALLS_CALLS_OWNER_H

#include <stdbool.h>

#include "runtime/process/process.h"
#include "runtime/process/thread.h"

/* Does the slot hold our return label: is the call there an intercepted one that has not returned yet? */
bool calls_is_intercepted(uint64_t slot);

/* The outermost open call at or below the slot; 0: the chain is damaged, or there is none any more. */
uint64_t calls_outermost(const struct stack *stack, uint64_t slot);

/*
 * calls_is_intercepted() for memory that may be gone at any moment, by the lower halves of the labels: no other address
 * on a stack has such a lower half.
 */
bool calls_holds_label(uint64_t slot);

static inline const struct thread *calls_runner(const struct stack *stack)
{
	/* Relaxed: come() in calls_stack.c says what is ordered. */
	return __atomic_load_n(&stack->runner, __ATOMIC_RELAXED);
}

/* Another thread's record: are its events on the stack? */
static inline bool calls_is_on(const struct thread *other, const struct stack *stack)
{
	/* Relaxed, both: records stay; and as above. */
	return __atomic_load_n(&other->tid, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&other->hot.stack, __ATOMIC_RELAXED) == &stack->hot;
}

/* Was another thread seen there last, and nowhere else since? Then calls there may begin and end at this moment. */
static inline bool calls_is_anothers(const struct stack *stack, const struct thread *thread)
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

#endif
