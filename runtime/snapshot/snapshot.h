/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of the flight recorder that the process takes of itself, because its rules ask for it: when a signal comes,
 * or at exit; and the mark of a crash. (`xaudit ctl PID snapshot` needs none of this: it copies files from outside.)
 *
 * Without such a rule no signal's action is touched. A handler of ours is in place from the first LA_ACT_CONSISTENT on;
 * if the program sets its own action for the signal later, that replaces ours. The action that was there before is
 * called after ours; a crash then happens as it would have without us.
 *
 * A snapshot is a trace folder beside the trace: OUTPUT.snapshot.<n>, with one process folder. Chunks are copied from
 * file to file by system calls, and kept if their header is the same before and after the copy (format/trace.h);
 * threads go on writing meanwhile. Async-signal-safe, no libc.
 */
#ifndef XAUDIT_SNAPSHOT_H
#define XAUDIT_SNAPSHOT_H

struct snapshot_options {
	int signal; /* 0: none */
	int exit, crash;
};

/* la_version. One thread. */
void snapshot_init(const struct snapshot_options *options);

/* The first LA_ACT_CONSISTENT: sets the signals' actions. */
void snapshot_start(void);

/* The process ends by exit(), after calls_finish(): takes a snapshot, if the rules say so. No lock held. */
void snapshot_at_exit(void);

/*
 * Takes a snapshot now. Returns 0 or -errno; says what went wrong, once. No lock held; any thread, async-signal-safe.
 */
int snapshot_take(void);

#endif
