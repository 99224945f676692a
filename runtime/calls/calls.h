/* SPDX-License-Identifier: MIT */
/*
 * Open calls: the chain of mirror entries of each stack (x86_64/mirror.h), as the trampolines' slow paths see it
 * (x86_64/contract.h): they begin calls on a stack that is not known yet, and end those whose frames are gone.
 *
 * A stack's chain belongs to the thread that runs on it and the signal handlers there. Each change is one instruction,
 * so a handler finds it whole. Any thread, async-signal-safe, no libc; takes the process lock when a thread meets a new
 * stack, or a stack is parted from another one. calls.c has what trampolines call, calls_stack.h what they and others
 * stand on, calls_owner.h whose a stack is, calls_ends.h ends, calls_gaps.h stacks in frames.
 */
#ifndef XAUDIT_CALLS_H
#define XAUDIT_CALLS_H

#include <stdint.h>

#include "runtime/process/thread.h"

/*
 * The link of a call whose return is intercepted, and that was ended as unwound: should it return nevertheless, as the
 * function of libc that tells us of a thread's end does, the trace has its end already. XRay calls and those that are
 * told lie below their slots, at multiples of 16, and keep their links. No open call has this one.
 */
#define CALLS_LINK_ENDED 0

/*
 * The calling thread's frames will not return: ends all open calls on its stack as unwound, with all that it parted
 * from its own stack, or had in frames there. Returns the stack, or NULL.
 */
struct stack *calls_unwind_all(struct thread *thread);

/* The calling thread ends the process by exit(): its open calls end, and the trace says so. Takes the process lock. */
void calls_finish(void);

#endif
