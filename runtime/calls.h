/* SPDX-License-Identifier: MIT */
/*
 * Open calls: the chain of mirror entries of each stack (x86_64/mirror.h), as the trampolines' slow paths see it
 * (x86_64/contract.h): they begin calls on a stack that is not known yet, and end those whose frames are gone.
 *
 * A stack's chain belongs to the thread that runs on it and the signal handlers there. Each change is one instruction,
 * so a handler finds it whole. Any thread, async-signal-safe, no libc; takes the process lock when a thread meets a new
 * stack, or a stack is parted from another one.
 *
 * An event at a slot says that the frames below it are gone, if they are the same stack's. The outermost call that was
 * open below tells if they are: if its slot was written over since (further calls on the stack do that), it was left,
 * with all calls inside; if the slot still holds our label (for an XRay call: the return address that its entry found
 * there), the call may still return: it is taken for a call of another stack, which is parted from this one without a
 * word in the trace (mirror_split()). If it was left nevertheless, that is seen once its slot was written over. An
 * exception's landing pad and longjmp need no such test: they tell that frames are gone.
 */
#ifndef XAUDIT_CALLS_H
#define XAUDIT_CALLS_H

#include <stdint.h>

#include "runtime/thread.h"

/*
 * Functions to call about frames that are gone, while tramp_checks has TRAMP_CHECK_HANDLERS: given by runtime/start.c,
 * before the first call. On the thread itself; no lock.
 */
struct calls_hooks {
	void (*frames_gone)(struct thread *thread, uint64_t low, uint64_t high); /* handlers_frames_gone() */
	void (*unwound)(struct thread *thread, uint32_t id); /* a call of this function has ended without returning */
};

void calls_init(const struct calls_hooks *hooks);

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

/* Ends every open call on the stack at or below the slot as unwound: its frame is gone for certain. */
void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot);

/*
 * The intercepted call at the slot has jumped elsewhere as its last act, and will not return through us: ends it so, if
 * it is open. The calls below it are gone.
 */
void calls_jump(struct thread *thread, struct stack *stack, uint64_t slot);

/*
 * The calling thread's frames will not return: ends all open calls on its stack as unwound. Returns the stack, or
 * NULL.
 */
struct stack *calls_unwind_all(struct thread *thread);

/* Does the slot hold our return label: is the call there an intercepted one that has not returned yet? */
int calls_is_intercepted(uint64_t slot);

/* The calling thread ends the process by exit(): its open calls end, and the trace says so. Takes the process lock. */
void calls_finish(void);

#endif
