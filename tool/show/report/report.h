/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit report`: report.c takes the options and opens the traces. What is asked is answered by
 *	profile.c	calls and times of all functions, libraries, threads or processes (by_process.c), by the
 *			profile of xaudit-read.h
 *	hist.c		the times of one function's calls, by the profile
 *	edges.c		callers and callees of a function
 *	by_event.c	calls and times by the values of custom events
 *	diff.c		two runs
 * of which the last three go through all calls (report_each()). columns.h has the columns of all tables, sample.h rows
 * that were counted call by call, left.c the lines about what the numbers leave out. One thread, but in report_both().
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_H
#define XAUDIT_TOOL_SHOW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/event_format.h"
#include "tool/show/report/columns.h"
#include "tool/show/show.h"

/* What the numbers leave out, as xaudit_read_profile_info and xaudit_read_sums tell it. */
struct report_left {
	uint64_t lost, unfinished, orphans, inherited, points, counted, no_end, cpu_unknown;
	uint64_t overwritten, customs_unfinished, crashes;
	int signal;
};

struct report {
	struct show_options options;
	/* What is asked for. */
	int by; /* enum xaudit_read_by, REPORT_BY_PROCESS or REPORT_BY_DEFAULT */
	int sort; /* enum report_column, or COLUMNS: the question's own order */
	bool apart, diff;
	struct report_columns columns;
	uint32_t tid;
	uint32_t jobs; /* 0: one per processor */
	uint64_t from, to; /* ns after the start of each trace */
	const char *callers, *callees, *hist; /* patterns of functions */
	const char *by_event, *event_end;
	struct event_formats formats;

	const char **folder;
	struct xaudit_read_trace **trace;
	uint32_t traces;
	bool sched; /* all of them have context switches */
	const struct show_colors *color;
	struct report_left left;
};

#define REPORT_BY_DEFAULT (-1)
#define REPORT_BY_PROCESS (XAUDIT_READ_BY_THREAD + 1)

/* Each prints the answer, and returns the exit status, without regard to damage. */
int report_profile(struct report *report);
int report_hist(struct report *report);
int report_callers(struct report *report);
int report_callees(struct report *report);
int report_by_event(struct report *report);
int report_diff(struct report *report);

/* ---- profile.c ---- */

/* Counts the traces. by: enum xaudit_read_by. The caller closes the profile. */
struct xaudit_read_profile *report_count(struct report *report, int by);

/* Its lines, sorted; their rows are struct xaudit_read_row. The caller frees them. */
struct report_line *report_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count);

/* The values of a row but its percentiles. */
void columns_row(const struct xaudit_read_row *row, struct report_line *line);

/* ---- by_process.c ---- */

/*
 * The lines of the processes in a profile of threads, not sorted; the caller frees them, and *rows, where their rows
 * are.
 */
struct report_line *report_process_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count, void **rows);

/* ---- calls.c ---- */

struct report_calls {
	bool enters, customs;
	void (*begin)(void *user, uint32_t trace); /* before the calls of a trace; NULL: nothing */
	void (*take)(void *user, const struct xaudit_read_item *item);
	void *user;
};

/* Gives all items of the traces that the options want to take(), and adds up report->left. */
void report_each(struct report *report, const struct report_calls *calls);

/*
 * The same of two traces, each with calls of its own: where -j allows it at once, the second one by a thread of its
 * own. So what they count must not be the same, nor names be printed or demangled there; all is over when it returns.
 */
void report_both(struct report *report, const struct report_calls calls[2]);

/* Fills in report->columns if none were chosen: for a table these. */
void report_columns(struct report *report, const uint8_t *usual, unsigned count);

/* Says that the trace has no such function. Returns TOOL_FAILED. */
int report_no_function(const char *pattern);

/* ---- left.c ---- */

void left_add_profile(struct report_left *left, const struct xaudit_read_profile_info *info);
void left_add_calls(struct report_left *left, const struct xaudit_read_sums *sums);

/* Lines below a table, the first one empty. */
void left_print(const struct report *report);

/* "lost":0,"unfinished":0 for the beginning of an object, and the rest, ,"counted":0 ..., for its end. */
void left_json_begin(const struct report_left *left);
void left_json_end(const struct report_left *left);

/* ---- text.c ---- */

/*
 * Does a FUNC of the command line, a pattern as `xaudit record -F` takes it, name this function? Behind an @ stands the
 * library: the last part of its path, or all of it if there is a slash.
 */
bool report_names(const char *pattern, const char *name, const char *library);

/* "name [library]", without colours where there are none; NULL: "(none)". */
void report_print_function(const struct report *report, const char *name, const char *library);

/* "function":"name","library":"path" */
void report_json_function(const char *name, const char *library);

/* " [process 1]", with the folder where there are several; and "pid":1, with "folder":"..." in that case. */
void report_print_process(const struct report *report, const char *folder, uint32_t pid);
void report_json_process(const struct report *report, const char *folder, uint32_t pid);

#endif
