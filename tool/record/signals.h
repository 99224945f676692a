/* SPDX-License-Identifier: MIT */
/*
 * Signals that come to xaudit while the command runs: they are meant for the command, as if it ran in xaudit's place
 * (env, nice). Each that can be caught is passed on, but for
 *  - SIGCHLD, which is about us;
 *  - what the terminal sends to its foreground group, as long as the command is in our group and so has it already;
 *  - what we caused ourselves: SIGSEGV and its like; and SIGPIPE, since the write to a closed pipe fails anyway.
 * That also holds for signals that we shall ignore, as a shell's background jobs ignore SIGINT and SIGQUIT: the command
 * ignores them as well, unless it sets a handler (a server that SIGQUIT asks to end). A signal that stops us (job
 * control) stops the command first.
 */
#ifndef XAUDIT_TOOL_RECORD_SIGNALS_H
#define XAUDIT_TOOL_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define RECORD_SIGNALS 65 /* the highest number, plus one */

/* Mask and actions as they were before. */
struct record_signals {
	sigset_t mask;
	struct sigaction action[RECORD_SIGNALS];
	bool taken[RECORD_SIGNALS];
};

/* From now on a file of ours that would become too large (ulimit -f) is an error, and no signal. */
void record_signals_begin(void);

/*
 * From now on signals are passed on to the command; all stay blocked until there is a child that they can be sent to.
 */
void record_signals_take(struct record_signals *before);

/*
 * The process that gets the signals; 0: they are dropped. As long as it is set the number must be the child's: not yet
 * waited for.
 */
void record_signals_send_to(pid_t pid);

/* Unblocks the signals that were not blocked before. */
void record_signals_let_come(const struct record_signals *before);

/*
 * Sets mask and actions as they were before. A signal that came meanwhile, and was blocked, is then delivered to the
 * old action.
 */
void record_signals_give_back(const struct record_signals *before);

/* The same in the child, which will be the command: as they were before record_signals_begin(). */
void record_signals_leave(const struct record_signals *before);

#endif
