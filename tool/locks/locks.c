/* SPDX-License-Identifier: MIT */
/* xaudit locks: who held which lock while who waited. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "format/chain.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/locks/run.h"
#include "tool/locks/show.h"
#include "tool/locks/show_json.h"
#include "tool/locks/show_text.h"
#include "tool/record/run.h"
#include "tool/show/term/pager.h"
#include "tool/show/trace_has.h"

#define ROWS 20

struct locks_options {
	struct locks_view view; /* first: rows of options write to it */
	struct locks_run run;
	char **word; /* the options, as they were given */
	int words;
	int reported; /* exit status */
};

#define AT(member) .at = offsetof(struct locks_options, member)

/* A row of record's options, which write to another structure. */
static bool take_record(const struct options_given *given)
{
	struct locks_options *options = given->context;
	const struct options_row *row = record_rows;

	while (strcmp(row->word, given->row->word))
		row++;
	const struct options_given other = {
		.syntax = given->syntax, .row = row, .value = given->value, .context = &options->run.record
	};
	return row->take(&other);
}

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many rows of each list (default: " OPTIONS_NUMBER(ROWS) ")",
		.take = options_number, .most = INT32_MAX, .at = offsetof(struct locks_view, count),
		.allowed = "a number from 1 up" },
	SHOW_FORMAT("text or json", "text (default) or json"),
	{ 0, "keep", "DIR", "keep the trace of the command in this folder", .take = options_text, AT(run.keep) },
	{ 0, "backtrace", "N", "record so many callers (default: " OPTIONS_NUMBER(CHAIN_DEFAULT) ")",
		.take = options_number, .most = CHAIN_MOST, AT(run.backtrace),
		.allowed = "a number from 1 to " OPTIONS_NUMBER(CHAIN_MOST) },
	{ 'F', "filter", "PATTERN", "record these functions, too: what holders of locks do", .take = take_record },
	{ 'N', "notrace", "PATTERN", "never record these functions", .take = take_record },
	{ 0, "follow", "WHICH", "executed programs: yes (default), no; always", .take = take_record },
	{ 0, "size-limit", "SIZE", "record no more when the events of a process fill this", .take = take_record },
	{ 'c', "config", "FILE", "read this configuration instead of xaudit.conf", .take = take_record },
	SHOW_ROWS
};

#define HEAD                                                                                        \
	"Usage: xaudit locks [OPTION]... [--] COMMAND [ARGUMENT]...\n"                              \
	"       xaudit locks [OPTION]... [DIR]\n"                                                   \
	"Runs a command and shows who held which lock while who waited; or shows it from\n"         \
	"the trace in DIR (default: " TOOL_FOLDER ").\n"                                            \
	"\n"                                                                                        \
	"Options:\n"
#define TAIL                                                                                        \
	"\n"                                                                                        \
	"The exit status is that of the command; 125 xaudit failed, 126 the command can't\n"        \
	"be executed, 127 it was not found. Of a trace: 0, or 1 if it can't be reported.\n"

static const struct options_syntax of_command = {
	.command = "locks", .rows = rows, .column = 24, .in_front = true, .head = HEAD, .tail = TAIL
};
static const struct options_syntax of_trace = {
	.command = "locks", .rows = rows, .column = 24, .head = HEAD, .tail = TAIL
};

/* ---- a trace ---- */

/* Is there something to report? Returns false after a line, or if there will be one on what is damaged. */
static bool has_locks(const struct locks_reading *reading)
{
	if (reading->calls > reading->unnamed)
		return true;
	if (xaudit_read_damage(reading->trace, NULL))
		return false;
	if (reading->calls)
		tool_error("locks",
			"the trace has calls that lock, but not of what; `xaudit locks --keep=DIR COMMAND` "
			"records that");
	else
		tool_error("locks",
			"the trace has no calls of functions that lock: either the program has none, or they were not "
			"recorded; `xaudit locks --keep=DIR COMMAND` records them");
	return false;
}

static int report_trace(struct locks_view *view, struct xaudit_read_trace *trace, bool command)
{
	int coarse = xaudit_read_trace_info(trace)->coarse, status = TOOL_FAILED;

	view->color = show_colors(&view->show);
	if (coarse) {
		tool_error("locks",
			"the clock of the trace is coarse, so nothing tells who came first; record without "
			"--clock=coarse");
		xaudit_read_close(trace);
		return status;
	}
	locks_read(&view->reading, trace);
	bool some = (command && !view->reading.calls) || has_locks(&view->reading);
	if (some) {
		locks_view_make(view);
		if (view->show.json)
			locks_print_json(view);
		else
			locks_print_text(view);
	}
	locks_view_free(view);
	int read = show_end_trace(trace);
	return some ? read : status;
}

static int report_folder(struct locks_options *options, int argc, char **argv, bool command)
{
	int status;
	struct xaudit_read_trace *trace = show_begin(&options->view.show, &of_trace, argc, argv, &status);

	if (trace)
		return report_trace(&options->view, trace, command);
	return status == TOOL_USAGE ? RECORD_FAILED : status;
}

/* ---- a command ---- */

/* As if the folder had been named on the command line, with the same options. */
static void report(void *context, const char *folder)
{
	struct locks_options *options = context;
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = xaudit_read_open(folder, NULL, &error);

	xaudit_read_close(trace);
	if (!trace && error.why == XAUDIT_READ_NO_TRACE) {
		/* record has said why. */
		tool_error("locks", "nothing was traced, so there is nothing to show");
		options->reported = TOOL_FAILED;
		return;
	}
	char **argv = memory_zeroed((size_t)options->words + 2, sizeof(*argv));
	char *path = memory_text(folder, strlen(folder));

	memcpy(argv, options->word, (size_t)options->words * sizeof(*argv));
	argv[options->words] = path;
	options->reported = report_folder(options, options->words + 1, argv, true);
	pager_wait();
	free(path);
	free(argv);
}

static bool is_trace(const char *path)
{
	struct xaudit_read_error error;

	if (show_is_trace(path))
		return true;
	struct xaudit_read_trace *trace = xaudit_read_open(path, NULL, &error);
	xaudit_read_close(trace);
	return trace;
}

static int run(struct locks_options *options, int first, char **argv)
{
	bool dashes = !strcmp(argv[first - 1], "--");

	options->word = argv;
	options->words = first - dashes;
	options->run.report = report;
	options->run.context = options;
	record_speak_as("locks");
	int status = locks_run(&options->run, argv + first);
	return status ? status : options->reported;
}

int locks_main(int argc, char **argv)
{
	struct locks_options options = { .view = { .count = ROWS }, .run = { .backtrace = CHAIN_DEFAULT } };
	int first = options_take(&of_command, &options, argc, argv), status;

	if (first <= 0)
		status = first ? RECORD_FAILED : TOOL_OK;
	else if (first < argc && (!strcmp(argv[first - 1], "--") || !is_trace(argv[first])))
		status = run(&options, first, argv);
	else
		status = report_folder(&options, argc, argv, false);
	record_options_free(&options.run.record);
	return status;
}
