/* SPDX-License-Identifier: MIT */
/*
 * Runs `xaudit index` for one file, for its index or a plan of values (format/plan.h), and waits for its end, so that
 * the program notices nothing:
 *
 *	thread of the program --clone--> manager --clone--> command
 *
 * A process that executes a file sends SIGCHLD to its parent at its end, whatever it was cloned with, and any wait() of
 * the parent sees it. So its parent is a manager of our own: that shares the program's memory, has no descriptor of
 * the program and no signal at its end, and waits. The memory file that the command may write to is opened and mapped
 * by the manager, so the program's table of descriptors stays as it is, too; and so is one that the rules of a plan are
 * read from, which may be more than an argument can have. No memory is copied, so how large the program is does not
 * matter.
 *
 * The thread blocks all signals meanwhile, but the one by which libc changes the ids of all threads. The manager blocks
 * all; the command begins with none blocked or ignored, in a session of its own (^C and ^Z of the terminal are not for
 * it), without core files. The manager dies with the thread that waits for it (PR_SET_PDEATHSIG), and so does the
 * command, unless it keeps what it makes: then it goes on by itself when the time is over or the thread is gone, niced
 * in the first case, so that a later process finds it. It has bounds of time, CPU time and memory. Not where orphans
 * become children of the program (it is the first process of its namespace, or a subreaper). A debugger that follows
 * children follows neither (CLONE_UNTRACED).
 *
 * While it runs, two things can be seen all the same: a thread that waits for any child with __WALL or __WCLONE sees
 * the manager, and may reap it; and a program that another thread executes meanwhile inherits the dead manager as a
 * child. Then: the children's times in times() and getrusage().
 *
 * Not async-signal-safe: it sleeps. No libc; the process lock is not held.
 */
#ifndef XAUDIT_AUDIT_INDEX_HELPER_H
#define XAUDIT_AUDIT_INDEX_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it came to its end, and what `value` tells then. */
enum helper_end {
	HELPER_LOST,	    /* the manager was killed */
	HELPER_NOT_STARTED, /* errno: there is no process, no memory */
	HELPER_NO_COMMAND,  /* errno: it can't be executed */
	HELPER_EXITED,	    /* its status */
	HELPER_KILLED,	    /* the signal */
	HELPER_LATE,	    /* the seconds that it had */
	HELPER_ALONE,	    /* the same, but it goes on */
	HELPER_WRITABLE,    /* errno: its memory file can't be sealed */
};

#define HELPER_SAID 4096

struct helper {
	/* What to run. */
	const char *command;
	const char *file;
	const char *values; /* RULES of format/plan.h: a plan is asked for; NULL: an index */
	const char *const *environment; /* ends with NULL */
	unsigned seconds;		/* after so many it is killed, or left alone */
	bool keeps;			/* it may go on alone */
	/* What became of it. */
	enum helper_end end;
	long value;
	const void *bytes; /* what it wrote to its memory file, mapped read-only, sealed; NULL: nothing */
	size_t size;
	char said[HELPER_SAID]; /* on stdout and stderr, cut; lines, each a text, with '\n' between them */
};

/*
 * May the calling thread start processes that are of no concern to the program? Not under a filter of system calls,
 * which might kill; not where its next child would be the first of a new PID namespace, which ends with it; not where
 * /proc does not tell.
 */
bool helper_allowed(void);

void helper_run(struct helper *helper);

#endif
