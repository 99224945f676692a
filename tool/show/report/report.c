/* SPDX-License-Identifier: MIT */
/* xaudit report: takes the options, opens the traces, and has the question answered (report.h). */
#include "tool/show/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/report/by_event.h"
#include "tool/show/report/by_request.h"
#include "tool/show/report/by_stack.h"
#include "tool/show/report/by_value.h"
#include "tool/show/report/diff.h"
#include "tool/show/report/edges.h"
#include "tool/show/report/hist.h"
#include "tool/show/report/profile.h"
#include "tool/show/many.h"
#include "tool/show/term/srcline.h"
#include "tool/show/trace_has.h"

static bool take_sort(const struct options_given *given)
{
	struct report *report = given->context;
	int column = options_index(COLUMN_WORDS, given->value);

	if (column < 0)
		return options_wrong(given, COLUMN_WORDS);
	report->sort = column;
	return true;
}

/* A folder is no function: the value is forgotten easily. */
static bool take_function(const struct options_given *given)
{
	if (show_is_trace(given->value))
		return options_wrong_as(given, "%o takes a function, and '%v' is a trace: %o=FUNC %v", NULL);
	return options_text(given);
}

#define FUNCTION(name, help, member)                                                                  \
	{ 0, name, "FUNC", help, .take = take_function, .at = offsetof(struct report, member) }
#define TEXT(name, value, help, member)                                                                  \
	{ 0, name, value, help, .take = options_text, .at = offsetof(struct report, member) }

static const struct options_row rows[] = {
	{ 0, "by", "WHAT", "a line per function (default), library, thread,\n"
		"process, host, program or command; stack: one per\n"
		"function and recorded backtrace", .take = options_word, .at = offsetof(struct report, by),
		.allowed = "function, library, thread, process, stack, host, program or command" },
	{ 0, "apart", NULL, "processes apart, not added up",
		.take = options_flag, .at = offsetof(struct report, apart) },
	{ 0, "sort", "COLUMN", "by this column, the largest first; default: total", .take = take_sort },
	{ 0, "columns", "LIST", "these columns, with commas in between",
		.take = columns_take, .at = offsetof(struct report, columns) },
	FUNCTION("callers", "who calls a function, and how long these calls take", callers),
	FUNCTION("callees", "what a function calls, and how long these calls take", callees),
	FUNCTION("hist", "how the times of a function's calls are distributed", hist),
	TEXT("by-event", "TYPE[:FIELD]", "a line per value of these custom events, in force in\n"
		"their thread until the next one", by_event),
	TEXT("event-end", "TYPE", "custom events that end what --by-event means", event_end),
	TEXT("by-value", "NAME", "a line per value of this name and function, of calls\n"
		"whose values were recorded", by_value),
	{ 0, "by-request", NULL, "a line per request, of calls that belong to one", .take = options_flag,
		.at = offsetof(struct report, by_request) },
	{ 0, "event-format", "TYPE=FORMAT", "fields of the data of custom events, as for dump",
		.take = event_format_take, .at = offsetof(struct report, formats), .wrong = "%o can't be '%v': %a" },
	{ 0, "diff", NULL, "what is different in the second of two folders",
		.take = options_flag, .at = offsetof(struct report, diff) },
	{ 0, "tid", "N", "only calls of the thread with this id", .take = options_number, .most = INT32_MAX,
		.at = offsetof(struct report, tid), .allowed = "the id of a thread" },
	{ 0, "from", "TIME", "only calls that began so long after the start of the\n"
		"trace, or later: in seconds, or as 10ms, 3us", .take = options_span,
		.at = offsetof(struct report, from), .allowed = OPTIONS_SPAN },
	{ 0, "to", "TIME", "only calls that began before that", .take = options_span_end,
		.at = offsetof(struct report, to), .allowed = OPTIONS_SPAN_END },
	{ 'j', "jobs", "N", "so many threads read; default: one per processor", .take = options_number,
		.most = 1024, .at = offsetof(struct report, jobs), .allowed = "a number from 1 to 1024" },
	SHOW_FORMAT("table, json or csv", "table (default), json or csv"),
	SRCLINE_ROW,
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "report",
	.rows = rows,
	.column = 25,
	.head = "Usage: xaudit report [OPTION]... [DIR]...\n"
		"       xaudit report --diff [OPTION]... OLD NEW\n"
		"       xaudit report --diff [OPTION]... OLD... -- NEW...\n"
		"Shows calls and times per function from the traces in DIR (default:\n"
		TOOL_FOLDER "), or answers another question about them.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"FUNC is a pattern as for record -F: FUNCGLOB or FUNCGLOB@LIBGLOB.\n"
		"Columns: calls, counted, total, cpu, self, self-cpu, share, min, avg, deviation,\n"
		"p50, p90, p99, p999, max, self-avg; with --diff, self-p50.\n"
		"Times: total counts a recursive call once, self leaves out traced calls in\n"
		"between, the others are of single calls from entry to return.\n",
};

static bool asks_for_self_median(const struct report *report)
{
	bool asks = report->sort == COLUMN_SELF_P50;

	for (unsigned i = 0; report->columns.chosen && i < report->columns.count; i++)
		asks |= report->columns.column[i] == COLUMN_SELF_P50;
	return asks;
}

/* Are its lines of functions? */
static bool has_functions(const struct report *report)
{
	if (report->by == REPORT_BY_DEFAULT)
		return !report->by_event && !report->by_request;
	return report->by == XAUDIT_READ_BY_FUNCTION || report->by == REPORT_BY_STACK;
}

/* Says what of the options does not go together. */
static const char *wrong(const struct report *report)
{
	unsigned questions = (report->callers != NULL) + (report->callees != NULL) + (report->hist != NULL) +
			     (report->by_event != NULL) + (report->by_value != NULL) + report->by_request +
			     report->diff;

	if (questions > 1)
		return "one question is enough: --callers, --callees, --hist, --by-event, --by-value, --by-request "
		       "or --diff";
	if (questions && !report->by_event && !report->by_request && report->by != REPORT_BY_DEFAULT)
		return "--by does not go with --callers, --callees, --hist, --by-value or --diff";
	if (report->by_event && report->by >= XAUDIT_READ_BY_THREAD)
		return "with --by-event, --by is function or library";
	if (report->by_request && report->by >= XAUDIT_READ_BY_THREAD)
		return "with --by-request, --by is function or library";
	if (srcline_wanted() && !has_functions(report))
		return "--srcline goes with functions: lines here are of something else";
	if (report->apart && (report->callers || report->callees || report->by_value || report->by_request ||
				     report->by == REPORT_BY_STACK || report->diff))
		return "--apart does not go with --callers, --callees, --by-value, --by-request, --by=stack or "
		       "--diff";
	if (report->apart && report->by >= REPORT_BY_HOST)
		return "--apart does not go with --by=host, --by=program or --by=command";
	if (report->event_end && !report->by_event)
		return "--event-end goes with --by-event";
	if (report->diff && !report->old)
		return "--diff wants two folders, OLD NEW, or several runs: OLD... -- NEW...";
	if (trace_has_no_span(report->from, report->to))
		return TRACE_HAS_NO_SPAN;
	if (report->hist && report->sort != COLUMNS)
		return "--sort does not go with --hist";
	if (report->hist && report->columns.chosen && report->options.json != REPORT_JSON)
		return "--columns goes with --hist only in JSON";
	if (!report->diff && asks_for_self_median(report))
		return "self-p50 goes with --diff";
	return NULL;
}

static int answer(struct report *report)
{
	if (report->callers)
		return report_callers(report);
	if (report->callees)
		return report_callees(report);
	if (report->hist)
		return report_hist(report);
	if (report->by_event)
		return report_by_event(report);
	if (report->by_value)
		return report_by_value(report);
	if (report->by_request)
		return report_by_request(report);
	if (report->by == REPORT_BY_STACK)
		return report_by_stack(report);
	return report->diff ? report_diff(report) : report_profile(report);
}

/* Opens the traces, and leaves out what would be counted twice. */
static bool open_all(struct report *report)
{
	struct many many = { .folder = report->folder, .traces = report->traces };
	bool all = many_open(&many, report->options.pid);

	if (all && report->diff)
		many_say_twins("report", &many);
	else if (all)
		many_leave_out_twins("report", &many);
	report->sched = all && many_have_sched(&many);
	report->trace = many.trace;
	report->traces = many.traces;
	return all;
}

static bool is_of_processors(unsigned column)
{
	return column == COLUMN_CPU || column == COLUMN_CPU_SELF;
}

/* Is a column asked for that only traces with context switches have? */
static bool asks_for_processors(const struct report *report)
{
	bool asks = is_of_processors((unsigned)report->sort);

	for (unsigned i = 0; report->columns.chosen && i < report->columns.count; i++)
		asks |= is_of_processors(report->columns.column[i]);
	return asks;
}

/* Returns the exit status. */
static int close_all(struct report *report, int status)
{
	struct many many = { report->folder, report->trace, report->traces };

	event_format_free(&report->formats);
	return many_close(&many, status);
}

/* How many words stand behind "--", which ends the options; 0: there is none. */
static uint32_t words_behind(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return (uint32_t)(argc - i - 1);
	return 0;
}

/* The first side of --diff: how many of the folders; 0: that can't be told. */
static uint32_t old_of(const struct report *report, uint32_t behind)
{
	if (behind && behind < report->traces)
		return report->traces - behind;
	return report->traces == 2 ? 1 : 0;
}

int report_main(int argc, char **argv)
{
	struct report report = { .sort = COLUMNS, .by = REPORT_BY_DEFAULT };
	uint32_t behind = words_behind(argc, argv); /* taking the options moves them */
	int status = show_begin_many(
		&report.options, &syntax, argc, argv, NULL, false, &report.folder, &report.traces);
	const char *not;

	if (status >= 0)
		return close_all(&report, status);
	report.old = old_of(&report, behind);
	not = wrong(&report);
	if (not) {
		tool_error("report", "%s; `xaudit report --help` lists what there is", not);
		return close_all(&report, TOOL_USAGE);
	}
	report.color = show_colors(&report.options);
	if (!open_all(&report))
		return close_all(&report, TOOL_FAILED);
	for (uint32_t i = 0; i < report.traces; i++)
		srcline_objects(report.trace[i]);
	if (!report.sched && asks_for_processors(&report)) {
		tool_error("report", "times on processors are not in this trace; `xaudit record --sched` records them");
		return close_all(&report, TOOL_FAILED);
	}
	if (!trace_has("report", report.trace, report.traces, report.tid, report.from))
		return close_all(&report, TOOL_FAILED);
	report.csv = csv_begin(stdout, term_is());
	status = answer(&report);
	if (report.options.json == REPORT_CSV)
		left_say(&report.left);
	for (uint32_t i = 0; i < report.traces && !report.options.json; i++)
		show_say_coarse_trace(report.trace[i], "");
	return close_all(&report, status);
}
