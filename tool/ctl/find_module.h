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

#endif
