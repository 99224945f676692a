/* SPDX-License-Identifier: MIT */
/*
 * What forked processes have from who forked them: it is read once for all that have the same, and kept as long as one
 * of them is loaded, and a while longer.
 */
#ifndef XAUDIT_TOOL_READ_BASE_H
#define XAUDIT_TOOL_READ_BASE_H

#include "tool/read/process.h"

/* The process is being loaded: finds process->base. And its end. */
void read_base_take(struct read_process *process);
void read_base_leave(struct read_process *process);

/* Frees those of a family, which nobody uses any more. */
void read_base_close(struct read_family *family);

#endif
