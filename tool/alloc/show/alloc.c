/* SPDX-License-Identifier: MIT */
/* xaudit alloc: who allocated what. Of a trace; or of a command, which is read while it runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/chain.h"
#include "format/values.h"
#include "tool/alloc/calls.h"
#include "tool/alloc/read.h"
#include "tool/alloc/run.h"
#include "tool/alloc/show/attach.h"
#include "tool/alloc/show/view.h"
#include "tool/base/tool.h"
#include "tool/record/run.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/srcline.h"
#include "tool/values/expression.h"

#define ALLOC_SOON 1

struct own {
	struct show_options show; /* json: enum alloc_format */
	struct alloc_account_book book;
	struct alloc_view view;
	struct alloc_run run;
	struct alloc_attach attach;
	const char *output;
	uint32_t soon;
	bool terminal; /* standard output, before a pager is between */
	bool failed; /* what was to be shown was not */
};

#define AT(member) .at = offsetof(struct own, member)

/* ---- output ---- */

/* Opens what --output names, before anything is read; else it is this. Returns false after a line. */
static bool open_output(struct own *own, FILE *usual)
{
	own->view.to = usual;
	if (own->output) {
		own->view.to = fopen(own->output, "we");
		if (!own->view.to)
			tool_error("alloc", "%s can't be written: %s", own->output, strerror(errno));
		return own->view.to;
	}
	if (own->show.json != ALLOC_PPROF || !(usual == stdout ? own->terminal : isatty(fileno(usual))))
		return true;
	tool_error("alloc", "--format=pprof is not for a terminal; --output=FILE names a file");
	return false;
}

/* Shows the book. Returns false after a line. */
static bool show(struct own *own)
{
	own->view.book = &own->book;
	own->view.format = own->show.json;
	alloc_show(&own->view);
	bool good = !ferror(own->view.to) && !fflush(own->view.to);
	if (own->output)
		good &= !fclose(own->view.to);
	/* It has read enough, as who reads standard output. */
	if (!good && own->view.to == stderr && tool_reader_is_gone(STDERR_FILENO))
		return true;
	/* That standard output can't be written is said at the end. */
	if (!good && own->view.to != stdout)
		tool_error("alloc", "%s can't be written: %s", own->output ? own->output : "standard error",
			strerror(errno));
	return good || own->view.to == stdout;
}

/* ---- a trace ---- */

/* Is there something to show? Returns false after a line. */
static bool has_blocks(const struct alloc_account_book *book)
{
	if (book->calls > book->without)
		return true;
	if (book->calls)
		tool_error("alloc", "the trace has calls that allocate, but not how much; `xaudit alloc --keep=DIR -- "
			"COMMAND` records that");
	else
		tool_error("alloc", "the trace has no calls of functions that allocate: `xaudit alloc --keep=DIR -- "
			"COMMAND` records them");
	return false;
}

/* Returns false after a line. */
static bool report_trace(struct own *own, struct xaudit_read_trace *trace)
{
	if (xaudit_read_trace_info(trace)->coarse) {
		tool_error("alloc", "the trace has a coarse clock, by which frees can't be told from allocations that "
				    "follow them; record it with --clock=auto");
		return false;
	}
	if (!open_output(own, stdout))
		return false;
	alloc_read(&own->book, trace);
	return has_blocks(&own->book) && show(own);
}

static int report_folder(struct own *own, struct xaudit_read_trace *trace)
{
	bool good = report_trace(own, trace);
	int status = show_end_trace(trace);

	return good ? status : TOOL_FAILED;
}

/* ---- a command ---- */

static void report(void *context)
{
	struct own *own = context;

	own->failed = !show(own);
}

static int run(struct own *own, char **command)
{
	record_speak_as("alloc");
	if (!open_output(own, stderr))
		return RECORD_FAILED;
	own->run.book = &own->book;
	own->run.report = report;
	own->run.context = own;
	int status = alloc_run(&own->run, command);
	record_options_free(&own->run.record);
	return own->failed && !status ? RECORD_FAILED : status;
}

/* ---- a process ---- */

/* The one that is the only word, unless there is a file of that name. */
static bool is_process(struct own *own, const char *word)
{
	return options_digits(word, INT32_MAX, &own->attach.pid) && access(word, F_OK);
}

static int attach(struct own *own)
{
	own->attach.backtrace = own->run.backtrace;
	own->attach.maps = own->run.maps;
	own->attach.sample = own->run.sample;
	if (!open_output(own, stdout))
		return TOOL_FAILED;
	return alloc_attach(&own->attach, &own->book) && show(own) ? TOOL_OK : TOOL_FAILED;
}

/* ---- the command ---- */

static bool take_sample(const struct options_given *given)
{
	struct own *own = given->context;
	size_t length = strlen(given->value), taken = values_interval(given->value, length, &own->run.sample);

	return (taken && taken == length) || options_wrong(given, given->row->allowed);
}

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many stacks (default: " OPTIONS_NUMBER(ALLOC_MOST) "; all, if not as text)",
		.take = options_number, .most = UINT32_MAX, AT(view.most), .allowed = "a number from 1 up" },
	{ 0, "sort", "KEY", "by bytes (default), calls, live (at the end), peak or temporary;"
		" folded stacks have that number", .take = options_word, AT(view.sort), .allowed = ALLOC_SORTS },
	{ 0, "temporary", "N", "a block is temporary that is freed before its thread\n"
		"allocates so many others (" OPTIONS_NUMBER(ALLOC_SOON) ")", .take = options_number,
		.most = INT32_MAX, AT(soon), .allowed = "a number from 1 up" },
	{ 0, "timeline", NULL, "live memory over time, too", .take = options_flag, AT(view.timeline) },
	SHOW_FORMAT(ALLOC_FORMATS, "text (default), folded, json, or pprof: its heap profile"),
	{ 'o', "output", "FILE", "write into this file", .take = options_text, AT(output) },
	SRCLINE_ROW,
	{ 0, "for", "TIME", "of a process: for so long (default: until it ends, or ^C)", .take = options_span_end,
		AT(attach.time), .allowed = OPTIONS_SPAN_END },
	{ 0, "backtrace", "N", "record so many callers (default: " OPTIONS_NUMBER(CHAIN_DEFAULT) ")",
		.take = options_number, .most = CHAIN_MOST, AT(run.backtrace),
		.allowed = "a number from 1 to " OPTIONS_NUMBER(CHAIN_MOST) },
	{ 0, "sample", "SIZE", "record only samples, one in so many bytes, as in 512k: numbers\n"
		"are estimates then", .take = take_sample, .allowed = "a size from 1 to 1024G, as in 512k" },
	{ 0, "mmap", NULL, "mappings, too", .take = options_flag, AT(run.maps) },
	{ 0, "keep", "DIR", "of a command: keep the trace in this folder", .take = options_text, AT(run.keep) },
	{ 'c', "config", "FILE", "of a command: read this configuration instead of xaudit.conf",
		.take = options_text, AT(run.record.config) },
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "alloc",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit alloc [OPTION]... -- COMMAND [ARGUMENT]...\n"
		"       xaudit alloc [OPTION]... PID\n"
		"       xaudit alloc [OPTION]... [DIR]\n"
		"Shows who allocated how much memory: of a command that it runs, on standard\n"
		"error; of a process that runs under xaudit, from now on; or from the trace in\n"
		"DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

/* words: what is before the -- of a command. */
static int main_of_command(struct own *own, int words, char **argv)
{
	char *dashes = argv[words];

	argv[words] = NULL;
	int first = options_take(&syntax, own, words, argv);
	argv[words] = dashes;
	alloc_book_open(&own->book, own->soon);
	if (first == words)
		return run(own, argv + words + 1);
	if (first > 0)
		tool_error("alloc", "'%s' stands before the --, and is no option", argv[first]);
	return first ? RECORD_FAILED : TOOL_OK;
}

static int main_of_others(struct own *own, int argc, char **argv)
{
	int first = options_take(&syntax, own, argc, argv), status;

	alloc_book_open(&own->book, own->soon);
	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (argc - first == 1 && is_process(own, argv[first]))
		return attach(own);
	struct xaudit_read_trace *trace = show_begin(&own->show, &syntax, argc, argv, &status);
	return trace ? report_folder(own, trace) : status;
}

int alloc_main(int argc, char **argv)
{
	static struct own own = { .run.backtrace = CHAIN_DEFAULT, .soon = ALLOC_SOON };
	int words = 1, status;

	own.terminal = isatty(STDOUT_FILENO);
	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words + 1 < argc)
		status = main_of_command(&own, words, argv);
	else
		status = main_of_others(&own, argc, argv);
	alloc_book_close(&own.book);
	return status;
}
