/* SPDX-License-Identifier: MIT */
/*
 * What is behind xaudit-read-frames.h: the backtraces of a trace, each once, and their frames; and what the key of a
 * backtrace stands for in a process, as long as nothing is loaded or unloaded there.
 *
 * Memory: what all distinct backtraces need, up to a limit; further ones are not known. One thread per trace.
 */
#ifndef XAUDIT_TOOL_READ_API_FRAMES_H
#define XAUDIT_TOOL_READ_API_FRAMES_H

#include "tool/read/api/api.h"

/* Of a trace that is closed, and of a process of it, which may be wrapped elsewhere. */
void read_api_free_stacks(struct xaudit_read_trace *trace);
void read_api_free_keys(struct xaudit_read_process *process);

#endif
