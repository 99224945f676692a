/* SPDX-License-Identifier: MIT */
/*
 * `xaudit trace`. Its parts: trace.c takes options, and runs `xaudit record` in a folder that is removed at the end;
 * select.h turns -e into what record knows; follow.h reads the trace while it is recorded; line.h, with shown.h and
 * descriptors.h, makes lines of calls, table.h the table; output.h writes.
 */
#ifndef XAUDIT_TOOL_TRACE_TRACE_H
#define XAUDIT_TOOL_TRACE_TRACE_H

#define TRACE_TEXT_SHOWN 64 /* bytes of a text, unless -s says another number: as many as are recorded */

#endif
