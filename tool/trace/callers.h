/* SPDX-License-Identifier: MIT */
/*
 * The lines below a call that tell who called it, by its backtrace: " > name+0x12 [libfoo.so.1]", as frames.h has them.
 * They are made once for each backtrace. One thread.
 */
#ifndef XAUDIT_TOOL_TRACE_CALLERS_H
#define XAUDIT_TOOL_TRACE_CALLERS_H

#include "tool/read/api/xaudit-read.h"

/* Valid until callers_forget(). stack: NULL: no lines. */
const char *callers_lines(const struct xaudit_read_stack *stack);

/* Backtraces are about to be freed, as a process has ended. */
void callers_forget(void);

#endif
