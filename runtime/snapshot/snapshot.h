/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of the rings that the process takes of itself, because its rules ask for it: when a signal comes,
 * or at exit; and the mark of a crash. (`xaudit ctl PID snapshot` needs none of this: it copies files from outside.)
 *
 * Without such a rule no signal's action is touched. A handler of ours is in place from the first LA_ACT_CONSISTENT on;
 * if the program sets its own action for the signal later, that replaces ours. The action that was there before is
 * called after ours; a crash then happens as it would have without us.
 *
 * One snapshot is taken at a time, by who has a lock (runtime/process/lock.h), with all signals blocked: so no handler
 * can jump out of it, or end its thread; from a task that ends in the middle the lock is taken over. Who asks for a
 * snapshot counts that, and then takes the lock if it is free. If the lock is taken, its holder looks at the count
 * after releasing it, and takes one more snapshot for all signals that came meanwhile. So each signal has a snapshot
 * that was begun after it came, and no thread waits for another's, but for one that calls exit(): what was asked for
 * before is whole then. That one takes the next itself; the holder would go on as long as signals come. The lock and
 * the counts are wiped by fork.
 *
 * What hinders one is said. None is taken by a process under a filter of system calls (x86_64/confined.h): that may be
 * for all threads, so process_confine() takes the lock, too, and so waits for who copies. Nor is one taken by a forked
 * child without an event, which has nothing to copy.
 *
 * A snapshot is a trace folder beside the trace: OUTPUT.snapshot.<n> (or as the action says that asks for it: ask.h),
 * with one process folder. Chunks are copied from
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

/*
 * Takes one now, on the calling thread, in the middle of a call: as a signal has it taken. name: of its folder beside
 * that of the trace, as ask.h has it, "" for the usual one; it must stay. No lock held.
 */
void snapshot_now(const char *name);

/* The first LA_ACT_CONSISTENT: sets the signals' actions. */
void snapshot_start(void);

/*
 * The process ends by exit(), after calls_finish(): waits for a snapshot that is being taken, and takes one, if the
 * rules say so. No lock held.
 */
void snapshot_at_exit(void);

#endif
