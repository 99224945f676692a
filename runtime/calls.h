/* SPDX-License-Identifier: MIT */
/*
 * Open calls: the chain of mirror entries of each stack (x86_64/mirror.h), as the trampolines' slow paths see it
 * (x86_64/contract.h): beginning one on a stack that is not known yet, ending those whose frames are gone.
 *
 * A stack's chain belongs to the thread that runs on it and the signal handlers there. Each change is one
 * instruction, so a handler finds it whole. Any thread, async-signal-safe, no libc; takes the process lock where a
 * stack was never met there, or is parted from another one.
 *
 * An event at a slot says that the frames below it are gone, if they are the same stack's. Whether they are is told by
 * the outermost call that was open there: its slot was written over since (whoever goes on calling does that), so it
 * was left, with all inside; or it still holds our label (an XRay call's: the return address that its entry found
 * there), so it may return yet, is taken for another stack's, and parted from this one without a word (mirror_split()).
 * Who was left all the same is met when its slot was written over. An exception's landing pad and longjmp are not
 * asked: they tell that frames are gone.
 */
#ifndef XAUDIT_CALLS_H
#define XAUDIT_CALLS_H

#include <stdint.h>

#include "runtime/thread.h"

/*
 * Whom to tell of frames that are gone while tramp_checks has TRAMP_CHECK_HANDLERS: given by runtime/start.c, before
 * the first call. On the thread itself; no lock.
 */
struct calls_hooks {
	void (*frames_gone)(struct thread *thread, uint64_t low, uint64_t high); /* handlers_frames_gone() */
	void (*unwound)(struct thread *thread, uint32_t id); /* a call of this function has ended without returning */
};

void calls_init(const struct calls_hooks *hooks);

/*
 * The stack that slot lies on, which becomes the thread's; NULL: it has no mirror, or is a stranger's. The caller goes
 * on with what it got here: a handler may make another one the thread's at any moment.
 */
struct stack *calls_stack(struct thread *thread, uint64_t slot);

/*
 * The same for the calling thread, whose record it gets: *thread, NULL where nothing is recorded. A handler may have
 * forked since thread_get(): then this is the child, and begins anew.
 */
struct stack *calls_own_stack(struct thread **thread, uint64_t slot);

/*
 * An event happens at the slot: open calls at or below it have been left, and are ended as unwound; or are another
 * stack's, and parted from this one. Returns the stack that the slot lies on by then.
 */
struct stack *calls_settle(struct thread *thread, struct stack *stack, uint64_t slot);

/* Ends every open call on the stack at or below the slot as unwound: its frame is gone for certain. */
void calls_unwind(struct thread *thread, struct stack *stack, uint64_t slot);

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
