/* SPDX-License-Identifier: MIT */
/*
 * Functions whose return must not be intercepted: they return twice, or never, or look at their return address. Pure
 * functions; any context.
 */
#ifndef XAUDIT_AUDIT_NOINTERCEPT_H
#define XAUDIT_AUDIT_NOINTERCEPT_H

#include <stdint.h>

/* name: a symbol's name, without version. */
int nointercept_name(const char *name);

enum nointercept_watch {
	WATCH_NONE,
	WATCH_LANDED,
	WATCH_JUMP,
	WATCH_CALLER,
	WATCH_CFA,
	WATCH_PRCTL,
	WATCH_SYSCALL,
	WATCH_LIMIT,
	WATCH_LOCK,
	WATCH_RIGHTS,
	WATCH_EXEC
};

/*
 * Functions that must be watched: a call means that frames are gone (TRAMP_LANDED) or about to go (TRAMP_JUMP), does
 * what its return address says (TRAMP_CALLER), shows where a frame of ours ends (TRAMP_CFA), may forbid us the TSC or
 * system calls (TRAMP_PRCTL, TRAMP_SYSCALL), may fail because too much is mapped (TRAMP_LIMIT, TRAMP_LOCK), may take
 * rights from the process, or fork it unseen by handlers of fork() (TRAMP_RIGHTS), or executes a program (TRAMP_EXEC).
 */
enum nointercept_watch nointercept_watch(const char *name);

/*
 * The word of a watched function's stub. WATCH_RIGHTS: the number of the system call that it makes, with the same
 * arguments if it may take rights; WATCH_EXEC: enum execute_how; of others 0.
 */
uint32_t nointercept_word(const char *name);

#endif
