/* SPDX-License-Identifier: MIT */
/*
 * Has the program put itself under a filter of system calls (seccomp)? The filter may kill who makes another one than
 * it knows, and it does not know of us. So from then on, what threads do in the middle of their calls asks the kernel
 * for nothing but rt_sigprocmask, which each program with threads or signals needs itself (and which no filter of
 * practice forbids); they go without what they can't have. Before, in stubs of prctl() and syscall() that they are
 * bound to (audit/never.h); who makes the system call by an instruction of his own is not seen.
 *
 * It holds for the whole process, whichever thread the filter is for, also when the kernel refuses it, and for what
 * the process forks. A program that is executed may already have it: then it does not hold, since much of what a start
 * needs has been asked for by then.
 *
 * Any context, no lock.
 */
#ifndef XAUDIT_CONFINED_H
#define XAUDIT_CONFINED_H

#include "x86_64/tramp.h"

static inline int confined(void)
{
	/* Relaxed: the thread itself set it before its filter; those of other threads it precedes by a system call. */
	return __builtin_expect(__atomic_load_n(&tramp_confined, __ATOMIC_RELAXED), 0) != 0;
}

#endif
