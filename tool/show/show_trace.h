/* SPDX-License-Identifier: MIT */
/*
 * What the commands say about a trace that can't be read as a whole, or at all: the reader returns errors as values,
 * and here they become lines on stderr. One thread; a trace is its caller's, who closes it.
 */
#ifndef XAUDIT_TOOL_SHOW_SHOW_TRACE_H
#define XAUDIT_TOOL_SHOW_SHOW_TRACE_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

/* Opens a trace. pid: 0: all of its processes. Returns NULL when there is nothing to read, after one line. */
struct xaudit_read_trace *show_trace(const char *path, uint32_t pid);

/*
 * Opens one process alone. command: the name that the message has if there is no such process; NULL: no message.
 */
struct xaudit_read_trace *show_trace_process(const char *command, const char *path, uint32_t place);

/*
 * Says, in one line, what could not be read. Returns the exit status: 0, or 1 when there was damage. If memory ran out
 * it ends the command, as in tool/base/memory.h.
 */
int show_trace_damage(const struct xaudit_read_trace *trace);

/* Ends the command if memory ran out, as show_trace_damage() does, and says nothing of other damage. */
void show_trace_need_memory(const struct xaudit_read_trace *trace);

#endif
