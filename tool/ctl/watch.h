/* SPDX-License-Identifier: MIT */
/*
 * xaudit ctl watch, and when --watch: stays beside processes that run without `xaudit record`, and does for them what
 * that does about snapshots (tool/record/asked/): makes those that actions ask for while their threads go on, holds the
 * limits, and finds calls that have not returned. It takes no chunks, so the processes write their traces as before:
 * that is why its heartbeat (trace_head.copy_beat) is not `record`'s. Killed, it leaves a heartbeat that gets old, and
 * threads make their snapshots themselves again.
 *
 * A process that executes another program has a new family, which is looked for and then watched as the first one is:
 * within 100 ms, and until then the new program believes the old one's heartbeat (runtime/files/family.h). What runs
 * without the module, or has its trace in another folder, is left, which is said.
 *
 * One main thread; asked_thread.h has the one that copies.
 */
#ifndef XAUDIT_TOOL_CTL_WATCH_H
#define XAUDIT_TOOL_CTL_WATCH_H

#include <stdbool.h>

struct ctl_process;
struct ctl_targets;

/* watch: from now on, until the processes have ended, or a signal ends it. Returns the status of the command. */
int ctl_watch(struct ctl_targets *targets, int argc, char **argv);

/*
 * Begins to watch them, so that threads let it copy. Returns 1; 0: it need not, since others do so already, which was
 * said; -1 after a line on stderr.
 */
int watch_begin(struct ctl_targets *targets);

/* Goes on until the processes have ended, or a signal ends it; after watch_begin(). Returns the exit status. */
int watch_run(void);

/* Gives up what watch_begin() has begun. */
void watch_leave(void);

/* Does somebody, `xaudit record` or another one of these, watch the process? Yes, if it has no trace yet. */
bool watch_is_beside(const struct ctl_process *process);

#endif
