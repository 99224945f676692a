/* SPDX-License-Identifier: MIT */
/*
 * The records that forked processes have from their parents. They are read once for all processes that have the same,
 * and kept as long as one of these is loaded, and a while longer. They belong to the family. One thread, as in all that
 * is of one folder (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_INHERITED_H
#define XAUDIT_TOOL_READ_INHERITED_H

#include "tool/read/process.h"

/* Finds process->base, when the process is loaded; and gives it back. */
void read_inherited_take(struct read_process *process);
void read_inherited_leave(struct read_process *process);

/* Frees the bases of a family, when no process uses them any more. */
void read_inherited_close(struct read_family *family);

#endif
