/* SPDX-License-Identifier: MIT */
/* Finds the module in a process, which may just be starting, or may not be traced at all. */
#ifndef XAUDIT_TOOL_CTL_FIND_MODULE_H
#define XAUDIT_TOOL_CTL_FIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ctl_process;

/*
 * Finds the process and the module in it; waits up to two seconds for a process that is just starting. Returns whether
 * it found them; if not, has said why.
 */
bool ctl_open(struct ctl_process *process, pid_t pid);

/*
 * The same without waiting, and silent: of a process that has just executed another program, `since` so long ago (ns).
 * CTL_YET: it may be found later. CTL_NEVER: that program runs without it, or can't be looked into (errno; 0: it can).
 */
enum ctl_looked { CTL_FOUND, CTL_YET, CTL_NEVER };
enum ctl_looked ctl_look(struct ctl_process *process, pid_t pid, uint64_t since);

/* Has the process, which was opened, another memory now, or none any more? */
bool ctl_is_other(const struct ctl_process *process);
void ctl_close(struct ctl_process *process);

/*
 * Waits until no other xaudit ctl changes the process, up to five seconds, and keeps others out until ctl_close(), or
 * the end of this one. To be called before anything is read that decides what is changed. Returns false when the other
 * one goes on; silent.
 */
bool ctl_alone(const struct ctl_process *process);

#endif
