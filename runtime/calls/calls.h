/* SPDX-License-Identifier: MIT */
/*
 * Open calls: the chain of mirror entries of each stack (x86_64/mirror.h), as the trampolines' slow paths see it
 * (x86_64/contract.h): they begin calls on a stack that is not known yet, and end those whose frames are gone.
 *
 * A stack's chain belongs to the thread that runs on it and the signal handlers there. Each change is one instruction,
 * so a handler finds it whole. Any thread, async-signal-safe, no libc; takes the process lock when a thread meets a new
 * stack, or a stack is parted from another one. calls.c has what trampolines call, calls_stack.c what they and others
 * stand on, calls_ends.c ends, calls_gaps.c stacks in frames.
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
 *
 * Two threads at once. A stack is one thread's: its events are there (tramp_state.stack), and it is the stack's runner.
 * A thread that comes looks whether the runner is there still. If not, it says that it is the runner, and looks once
 * more; then its events are there, and it looks whether it still is the runner. With a full barrier before each of
 * these two looks, of two threads that come at the same moment one at least sees the other. And as long as a thread is
 * there, no other one is the runner, lest a third one miss it. Whoever finds another thread there:
 *  - If calls are open below its own frames, these are the other one's, or a third stack's; the stack is parted above
 *    them, and the other one keeps the lower part, without notice. Its calls come and go meanwhile: no link above them
 *    changes, and a top that lies above all of a stack's slots is as good as its end. TRACE_PART_OUTER tells.
 *    Likewise if the other one begins a call there right after the look.
 *  - Else the kernel is asked where the other one is. If it waits in a system call, with its stack pointer on this
 *    stack, the two are parted in the middle between them, wherever calls are open.
 *  - If the innermost call there, which is above, has no label, the other one is just entering or leaving it: they are
 *    parted in the middle, too.
 *  - Else it runs, and may have left the stack without an event, as threads do that go on with each other's coroutines.
 *    The stack is the thread's that comes. The other one is sent away: its events are on no stack, so its next one
 *    looks for it, and comes. Should it be there still, it meets the first case as soon as calls of both are open.
 *
 * Between two instructions. A thread that is sent away may be in the middle of entering or leaving a call, or in a
 * handler that has interrupted that: its trampoline goes on with the struct that it has loaded, and stores a top there.
 * So that struct stays with it (thread_kept.away), and what it had goes to another one, with its number in the trace
 * (mirror_replace()). When the thread comes back to the stack, to whichever part of it, that is its own struct again,
 * with what it has stored there meanwhile. For the same reason a thread keeps its struct where a stack is parted while
 * it is there; who comes gets another one. And a barrier of all threads (epoch_fence_all()), between sending away and
 * the look at the innermost call, leaves two cases: the trampoline finds that the thread is away before it stores its
 * event, which C stores then, on the stack that the thread comes to; or it looked before the barrier: then the top is
 * seen that it has stored before that, and no label in its slot. The barrier is left out under a filter of system
 * calls; and this all, where threads took a stack from each other often, and nothing showed that it is two.
 */
#ifndef XAUDIT_CALLS_H
#define XAUDIT_CALLS_H

#include <stdint.h>

#include "runtime/process/thread.h"

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
 * The link of a call whose return is intercepted, and that was ended as unwound: should it return nevertheless, as the
 * function of libc that tells us of a thread's end does, the trace has its end already. XRay calls and those that are
 * told lie below their slots, at multiples of 16, and keep their links. No open call has this one.
 */
#define CALLS_LINK_ENDED 0

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
 * The calling thread's frames will not return: ends all open calls on its stack as unwound, with all that it parted
 * from its own stack, or had in frames there. Returns the stack, or NULL.
 */
struct stack *calls_unwind_all(struct thread *thread);

/* Does the slot hold our return label: is the call there an intercepted one that has not returned yet? */
int calls_is_intercepted(uint64_t slot);

/* Does the word hold the return address that the entry of an XRay call, or of one that was told, has? */
int calls_is_kept(const struct mirror_entry *entry, uint64_t word);

/* The calling thread ends the process by exit(): its open calls end, and the trace says so. Takes the process lock. */
void calls_finish(void);

#endif
