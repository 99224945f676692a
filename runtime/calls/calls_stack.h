/* SPDX-License-Identifier: MIT */
/*
 * Which stack a thread is on, and whose the open calls are that an event finds there.
 *
 * An event at a slot says that the frames below it are gone, if they are the same stack's. The outermost call that was
 * open below tells if they are: if its slot was written over since (further calls on the stack do that), it was left,
 * with all calls inside; if the slot still holds our label (for an XRay call: the return address that its entry found
 * there), the call may still return: so one of the two lies on another stack.
 *  - On a thread's own stack, a call that begins above another one, and no other call ends: nothing can be called there
 *    from frames further out, so the new one is on a stack in one of these, as an array of a coroutine or of a handler.
 *    That is taken out of the thread's stack (mirror_carve()): the calls around that frame and those below it are one
 *    stack, the new one is another.
 *  - Else the open call is another stack's, which is parted from this one (mirror_split()).
 * If it was left nevertheless, that is seen once its slot was written over; when the thread ends, or the process by
 * exit(); or when another thread begins on the same stack. Calls on a stack in a frame end likewise: that the call
 * around them has ended shows it only together with words that were written over, since which of the two is in the
 * other's frame was a guess. An exception's landing pad and longjmp need no such test: they tell that frames are gone.
 */
#ifndef XAUDIT_RUNTIME_CALLS_CALLS_STACK_H
#define XAUDIT_RUNTIME_CALLS_CALLS_STACK_H

#include <stdint.h>

#include "runtime/process/thread.h"

/*
 * The stack that slot lies on, which becomes the thread's; NULL: it has no mirror, or a task's frame is there that is
 * not the thread's (thread.h): *caller tells. The caller goes on with this result: a handler may make another stack the
 * thread's at any moment.
 */
struct stack *calls_find(struct thread *thread, uint64_t slot, enum thread_caller *caller);

static inline struct stack *calls_stack(struct thread *thread, uint64_t slot)
{
	enum thread_caller caller;

	return calls_find(thread, slot, &caller);
}

/*
 * As calls_find(), for the calling thread, whose record it gets: *thread, NULL if nothing is recorded. A handler may
 * have forked since thread_get(): then this is the child, and begins anew.
 */
struct stack *calls_find_own(struct thread **thread, uint64_t slot, enum thread_caller *caller);

static inline struct stack *calls_own_stack(struct thread **thread, uint64_t slot)
{
	enum thread_caller caller;

	return calls_find_own(thread, slot, &caller);
}

/*
 * An event happens at the slot: open calls at or below it have been left, and are ended as unwound; or they are another
 * stack's, and parted from this one. Returns the stack that the slot lies on then.
 */
struct stack *calls_settle(struct thread *thread, struct stack *stack, uint64_t slot);

/*
 * The intercepted call at the slot has jumped elsewhere as its last act, and will not return through us: ends it so, if
 * it is open. The calls below it are gone.
 */
void calls_jump(struct thread *thread, struct stack *stack, uint64_t slot);

#endif
