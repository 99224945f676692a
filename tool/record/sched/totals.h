/* SPDX-License-Identifier: MIT */
/*
 * What threads have run in all, as /proc/PID/task/TID/schedstat tells, looked at ten times a second: for the command
 * and its descendants. Of a thread that ends in between, what it ran since is missing; of a process, the clock of all
 * its threads, ended ones too, tells more.
 *
 * A process is found by its parent, so one whose parent ends before it was seen is not. Nothing here is exact but the
 * total of the command itself, which is asked when it has ended.
 */
#ifndef XAUDIT_TOOL_RECORD_SCHED_TOTALS_H
#define XAUDIT_TOOL_RECORD_SCHED_TOTALS_H

#include <sys/types.h>

void sched_totals_begin(pid_t pid);

/* Looks at the process and its descendants. */
void sched_totals_pass(void);
void sched_totals_end(void);

#endif
