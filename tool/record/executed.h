/* SPDX-License-Identifier: MIT */
/*
 * Programs that the traced ones executed, and that were not traced: their names, added up over the processes of a
 * trace. One thread after another.
 */
#ifndef XAUDIT_TOOL_RECORD_EXECUTED_H
#define XAUDIT_TOOL_RECORD_EXECUTED_H

struct xaudit_read_process;

/* Adds what the process has seen; once for each process. */
void record_executed_look(struct xaudit_read_process *process);

/* Says in one line on stderr which they were, if there were any. */
void record_executed_say(void);

#endif
