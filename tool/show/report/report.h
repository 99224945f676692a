/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit report`: report.c takes the options and opens the traces. What is asked is answered by
 *	profile.h	calls and times of all functions, libraries, threads or processes (by_process.h), by the
 *			profile of xaudit-read.h
 *	hist.h		the times of one function's calls, by the profile
 *	edges.h		callers and callees of a function
 *	by_event.h	calls and times by the values of custom events
 *	by_stack.h	calls and times by who called
 *	by_value.h	calls and times by one of their values
 *	by_request.h	calls and times by the request that calls belong to
 *	diff.h		two runs
 * Each has a function that prints the answer, and returns the exit status, without regard to damage. The last four go
 * through all calls (each_call.h). columns.h has the columns of all tables, tally.h rows that were counted call by
 * call, tally_print.h prints them, left_out.h the lines about what the numbers leave out. One thread, but in
 * report_both().
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_H
#define XAUDIT_TOOL_SHOW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/csv.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/event_format.h"
#include "tool/show/report/columns.h"
#include "tool/show/report/left_out.h"
#include "tool/show/show.h"

/* What options.json says. */
enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

struct report {
	struct show_options options;
	/* What is asked for. */
	int by; /* enum xaudit_read_by, or a REPORT_BY_ */
	int sort; /* enum report_column, or COLUMNS: the question's own order */
	bool apart, diff, by_request;
	struct report_columns columns;
	uint32_t tid;
	uint32_t jobs; /* 0: one per processor */
	uint64_t from, to; /* ns after the start of each trace */
	const char *callers, *callees, *hist; /* patterns of functions */
	const char *by_event, *event_end, *by_value;
	struct event_formats formats;

	const char **folder;
	struct xaudit_read_trace **trace;
	uint32_t traces;
	uint32_t old; /* with --diff: so many of them, the first ones, are the old runs */
	bool sched; /* all of them have context switches */
	const struct show_colors *color;
	struct report_left left;
	struct csv csv; /* used with REPORT_CSV */
};

#define REPORT_BY_DEFAULT (-1)
#define REPORT_BY_PROCESS (XAUDIT_READ_BY_THREAD + 1)
#define REPORT_BY_STACK	  (XAUDIT_READ_BY_THREAD + 2)
/* The last ones: what processes have in common. */
#define REPORT_BY_HOST	  (XAUDIT_READ_BY_THREAD + 3)
#define REPORT_BY_PROGRAM (XAUDIT_READ_BY_THREAD + 4)
#define REPORT_BY_COMMAND (XAUDIT_READ_BY_THREAD + 5)

#endif
