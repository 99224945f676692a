/* SPDX-License-Identifier: MIT */
/*
 * Memory that a process has of its own, less what checking costs, after each unload of the same library: does every
 * cycle leave some of it allocated?
 */
#ifndef XAUDIT_TOOL_CHECK_GROWTH_H
#define XAUDIT_TOOL_CHECK_GROWTH_H

struct check_process;
struct check_unload;

/* One cycle has ended; the process ends. */
void check_growth_sample(struct check_process *process, const struct check_unload *unload);
void check_growth_judge(struct check_process *process);

#endif
