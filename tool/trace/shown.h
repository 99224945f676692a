/* SPDX-License-Identifier: MIT */
/*
 * The names of functions as lines have them, made once: a name of C++ takes longer to demangle than a line to print.
 * One thread.
 */
#ifndef XAUDIT_TOOL_TRACE_SHOWN_H
#define XAUDIT_TOOL_TRACE_SHOWN_H

struct shown {
	const char *raw;
	const char *alone; /* with its brackets: "open()", "png::read(int)" */
	const char *bare;  /* in front of arguments: "open", "png::read" */
};

/* Valid until shown_free(). */
const struct shown *shown_name(const char *raw);

void shown_free(void);

#endif
