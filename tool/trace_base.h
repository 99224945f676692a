/* SPDX-License-Identifier: MIT */
/*
 * What forked processes have from who forked them: it is read once for all that have the same, and kept as long as one
 * of them is loaded, and a while longer.
 */
#ifndef XAUDIT_TRACE_BASE_H
#define XAUDIT_TRACE_BASE_H

#include "tool/trace_folder.h"
#include "tool/trace_meta.h"

/* The process is being loaded: finds process->base. And its end. */
void base_take(struct process *process);
void base_leave(struct process *process);

/* trace_names.c: takes all that comes as what that process says. */
void names_take(struct process *process, struct meta *meta);

#endif
