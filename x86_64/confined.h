/* SPDX-License-Identifier: MIT */
/*
 * Has the program put itself under a filter of system calls (seccomp)? The filter may kill a thread for a system call
 * that it does not expect, and it does not know of us. So from then on, our code in the middle of threads' calls makes
 * no system call but rt_sigprocmask, which no filter in practice forbids, and does without the rest:
 *	- no file of full chunks is written; chunks stay in meta, as long as that has room, or `xaudit record` takes
 *	  them
 *	- in mode ring, a thread whose first event comes later has four chunks
 *	- threads keep the name that they had; numbers of new threads and of forked children are those that libc notes
 *	- calls on stacks that grow far, or are new, are recorded entry-only
 *
 * The program is bound to stubs of prctl() and syscall() (audit/bind/nointercept.h; where it is bound to nothing else,
 * audit/bind/no_plt.h), which note the filter right before the call: the last chance to ask for what will be needed. A
 * system call by an instruction of the program's own is not seen. The note holds for the whole process, whichever
 * thread the filter is for, even if the kernel refuses the filter, and for forked children. A program that is executed
 * under a filter has made many system calls at its start, and lives.
 *
 * A filter may answer by a trap, too: then the program's handler of SIGSYS makes the system call. So no mask of ours
 * blocks SIGSYS (runtime/process/process.h). In ld.so's callbacks, which make more system calls, this is what browsers
 * rely on. What the system can do is asked in la_version, before there is a filter.
 *
 * Set by process_confine() alone. Any context, no lock.
 */
#ifndef XAUDIT_CONFINED_H
#define XAUDIT_CONFINED_H

#include <stdbool.h>

#include "x86_64/contract.h"

static inline int confined(void)
{
	/*
	 * Relaxed: the thread itself set it before its filter; and at least a whole system call before another thread
	 * gets one.
	 */
	return __builtin_expect(__atomic_load_n(&tramp_confined, __ATOMIC_RELAXED), 0) != 0;
}

/* Was that SECCOMP_MODE_STRICT? Then no system call at all may be made, and nothing is recorded. */
static inline bool confined_strictly(void)
{
	return __atomic_load_n(&tramp_confined, __ATOMIC_RELAXED) == 2; /* relaxed, as above */
}

#endif
