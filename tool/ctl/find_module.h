/* SPDX-License-Identifier: MIT */
/* Finds the module in a process, which may just be starting, or may not be traced at all. */
#ifndef XAUDIT_TOOL_CTL_FIND_MODULE_H
#define XAUDIT_TOOL_CTL_FIND_MODULE_H

#include <stdbool.h>
#include <sys/types.h>

struct ctl_process;

/*
 * Finds the process and the module in it; waits up to two seconds for a process that is just starting. Returns whether
 * it found them; if not, has said why.
 */
bool ctl_open(struct ctl_process *process, pid_t pid);
void ctl_close(struct ctl_process *process);

/*
 * Waits until no other xaudit ctl changes the process, up to five seconds, and keeps others out until ctl_close(), or
 * the end of this one. To be called before anything is read that decides what is changed. Returns false when the other
 * one goes on; silent.
 */
bool ctl_alone(const struct ctl_process *process);

#endif
