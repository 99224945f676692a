/* SPDX-License-Identifier: MIT */
/*
 * Lines of dump with --min: that of a call's begin waits until the call is known to be long enough, or has ended before
 * it was. All lines behind it wait, too, as they are in the order of time. A call that is open is known to be long
 * enough when the time is: so what waits are calls that are open, and other lines of the last `min` ns.
 *
 * Of a call user[0] belongs to this. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_DUMP_LINES_H
#define XAUDIT_TOOL_SHOW_DUMP_LINES_H

#include "tool/show/choice.h"

struct dump_line;

struct dump_lines {
	struct choice *choice;
	struct dump_line *first, *last, *spare;
	uint64_t undecided; /* lines */
	FILE *memory;	    /* writes to `text`; NULL: not opened yet */
	char *text;
	size_t size;
};

/*
 * From here on, stdout keeps what is written; and a line of that: call: of its begin; NULL: it is shown in any case. In
 * the first of two passes it has no text.
 */
void dump_lines_begin(struct dump_lines *lines);
void dump_lines_end(
	struct dump_lines *lines, const struct xaudit_read_event *event, struct xaudit_read_call *call);

/* The call ended, or was given up, at that moment: its line is shown, or not. */
void dump_lines_decide(struct dump_lines *lines, struct xaudit_read_call *call, uint64_t time);

/* The time has come to that: calls that are open have taken so long. Writes lines. */
void dump_lines_pass(struct dump_lines *lines, uint64_t time);

/* No more events come. */
void dump_lines_close(struct dump_lines *lines);

#endif
