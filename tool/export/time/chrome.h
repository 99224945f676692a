/* SPDX-License-Identifier: MIT */
/*
 * The format chrome of `xaudit export`: JSON of Chrome's Trace Event Format, an object with "traceEvents", for the
 * UI of Perfetto, chrome://tracing and speedscope. Times are us after the start of the trace.
 *
 * A row is a "pid" and a "tid". Tracks that are threads have the thread's id; those that are stacks, or lie beside a
 * thread, and the rows that tell when threads were on processors, have numbers that no thread can have. Likewise, where
 * processes have the same id, all but the first have another number. Names say what they are.
 *
 * Readers put events in order by their times, and those of one time as they stand in the file. So a call that makes no
 * calls is a complete event (X), written when it is over, and others are a begin (B) and an end (E): that is as short
 * as can be, and parents always stand before their children. An end repeats the name, since speedscope wants it.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_TIME_CHROME_H
#define XAUDIT_TOOL_EXPORT_TIME_CHROME_H

#include "tool/export/format.h"

#endif
