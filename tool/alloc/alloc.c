/* SPDX-License-Identifier: MIT */
/* xaudit alloc: who allocated what. Of a trace; or of a command, which is recorded in a folder that is removed. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/alloc/calls.h"
#include "tool/alloc/functions.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/record/record.h"
#include "tool/record/run.h"
#include "tool/record/signals.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"

#define ALLOC_MOST 10
#define ALLOC_SOON 1
#define SORTS "bytes, calls, live, peak or temporary"

struct own {
	struct show_options show;
	const char *keep;
	uint32_t count, soon;
	int sort; /* in SORTS */
	bool failed;
};

static struct alloc_account_book book;

/* ---- reading ---- */

static void take_event(struct alloc_process *process, const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call;

	if (event->what == XAUDIT_READ_EVENT_ENTRY)
		alloc_call_begins(process, call, event->time);
	for (uint32_t i = 0; event->what != XAUDIT_READ_EVENT_ENTRY && i < event->ends; i++, call = call->parent)
		alloc_call_ends(process, call, event->time);
	for (uint64_t i = 0; event->what == XAUDIT_READ_EVENT_UNFINISHED && call && i < event->count; i++) {
		alloc_call_ends(process, call, event->time ? event->time : book.end);
		call = call->parent;
	}
	book.lost += event->what == XAUDIT_READ_EVENT_LOST ? event->count : 0;
	book.gone += event->what == XAUDIT_READ_EVENT_GONE;
}

/* Process by process, each in the order of time: so the peak is that of one process. */
static void read_trace(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *read;

	for (uint32_t i = 0; (read = xaudit_read_process(trace, i)); i++) {
		struct xaudit_read_events_options options = { .size = sizeof(options), .process = read };
		struct xaudit_read_error error;
		struct xaudit_read_event event;
		struct xaudit_read_events *events = memory_need(xaudit_read_events(trace, &options, &error));
		struct alloc_process *process = alloc_process_begin(&book);

		while (xaudit_read_next_event(events, &event))
			take_event(process, &event);
		xaudit_read_events_close(events);
		alloc_process_end(process, book.end);
	}
}

/* ---- text ---- */

static int sort; /* for qsort */

static uint64_t key_of(uint32_t number)
{
	const struct alloc_account *account = &book.model.account[number];

	switch (sort) {
	case 1:
		return account->all.blocks;
	case 2:
		return account->left.bytes;
	case 3:
		return alloc_model_at_peak(&book.model, account).bytes;
	case 4:
		return account->temporary;
	default:
		return account->all.bytes;
	}
}

static int by_key(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint64_t left = key_of(a), right = key_of(b);

	return left != right ? (left > right ? -1 : 1) : a < b ? -1 : a > b;
}

static void print_account(FILE *to, const struct alloc_account *account)
{
	struct alloc_sum peak = alloc_model_at_peak(&book.model, account);

	fprintf(to,
		"%" PRIu64 " calls, %" PRIu64 " bytes; at the end %" PRIu64 " blocks, %" PRIu64
		" bytes; at the peak %" PRIu64 " blocks, %" PRIu64 " bytes; temporary %" PRIu64 "\n",
		account->all.blocks, account->all.bytes, account->left.blocks, account->left.bytes, peak.blocks,
		peak.bytes, account->temporary);
}

static void print_stack(FILE *to, uint32_t node)
{
	for (unsigned n = 0; node; node = book.tree.node[node].parent) {
		const struct alloc_frame *frame = alloc_tree_frame_of(&book.tree, node);

		fprintf(to, "    #%-3u ", n++);
		tool_text(to, names_shown(frame->name));
		fputs(" [", to);
		tool_text(to, tool_base(frame->library));
		fputs("]\n", to);
	}
}

static void print_text(FILE *to, const struct own *own)
{
	const struct alloc_model *model = &book.model;
	uint32_t *number = memory_zeroed(model->accounts + 1, sizeof(*number)), count = 0;
	uint32_t most = own->count ? own->count : ALLOC_MOST;

	for (uint32_t i = 0; i < model->accounts; i++)
		if (model->account[i].all.blocks)
			number[count++] = i;
	sort = own->sort;
	qsort(number, count, sizeof(*number), by_key);
	for (uint32_t i = 0; i < count && i < most; i++) {
		fprintf(to, "%" PRIu32 ". ", i + 1);
		print_account(to, &model->account[number[i]]);
		print_stack(to, number[i]);
		fputc('\n', to);
	}
	if (count > most)
		fprintf(to, "%" PRIu32 " more stacks: see -n\n", count - most);
	fputs("in all: ", to);
	print_account(to, &model->sum);
	fprintf(to,
		"%" PRIu64 " frees, %" PRIu64 " of unknown blocks; %" PRIu64 " lost, as their addresses came again\n",
		model->frees, model->unknown_frees, model->lost_frees);
	if (book.without || book.endless)
		fprintf(to, "%" PRIu64 " calls without the values that are needed, %" PRIu64 " without an end\n",
			book.without, book.endless);
	if (book.lost || book.gone)
		fprintf(to, "%" PRIu64 " events and %" PRIu64 " buffers are not in the trace: numbers are too low\n",
			book.lost, book.gone);
	free(number);
}

/* Returns false after a line. */
static bool report(struct xaudit_read_trace *trace, const struct own *own, FILE *to)
{
	if (xaudit_read_trace_info(trace)->coarse) {
		tool_error("alloc", "the trace has a coarse clock, by which frees can't be told from allocations that "
				    "follow them; record it with --clock=auto");
		return false;
	}
	alloc_book_open(&book, own->soon ? own->soon : ALLOC_SOON);
	read_trace(trace);
	print_text(to, own);
	alloc_book_close(&book);
	return true;
}

/* ---- a command ---- */

static const char *folder_of_trace;

static bool begin(void *context, const char *folder)
{
	(void)context;
	folder_of_trace = folder;
	return true;
}

static void end(void *context, int pid, int status)
{
	struct own *own = context;

	(void)status;
	if (!pid)
		return;
	struct xaudit_read_trace *trace = show_trace(folder_of_trace, 0);
	own->failed = !trace || !report(trace, own, stderr);
	if (trace) {
		own->failed |= show_trace_damage(trace) != 0;
		xaudit_read_close(trace);
	}
}

static void add(struct record_words *words, const char *word)
{
	words->word = memory_resize(words->word, words->count + 1, sizeof(*words->word));
	words->word[words->count++] = word;
}

/* What would make a trace from which nothing can be told, whatever a configuration says. */
static void set_keys(struct record_options *options)
{
	static const char *const keys[][2] = { { "mode", "stream" }, { "clock", "auto" }, { "depth", "off" },
		{ "time", "off" }, { "throttle", "off" } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		options->value[rules_key_find(1, keys[i][0], strlen(keys[i][0]))] = keys[i][1];
}

static int run(struct own *own, char **command)
{
	const char *where = getenv("TMPDIR");
	char *folder = memory_format("%s/xaudit-alloc.XXXXXX", where && *where == '/' ? where : "/tmp");
	struct record_follower follower = { .begin = begin, .end = end, .context = own };
	struct record_options options = { .output = own->keep, .command = command, .follower = &follower };
	const struct alloc_function *function;
	char *trace = NULL;
	int status = RECORD_FAILED;

	if (!own->keep && !mkdtemp(folder)) {
		tool_error("alloc", "the folder %s can't be made: %s; TMPDIR names another place", folder,
			strerror(errno));
		free(folder);
		return status;
	}
	if (!own->keep) {
		options.output = trace = memory_format("%s/trace", folder);
		follower.removes = folder;
	}
	set_keys(&options);
	for (unsigned i = 0; (function = alloc_function_at(i)); i++) {
		char *contexts = alloc_function_contexts(function);
		add(i ? &options.also : &options.functions, function->pattern);
		add(&options.contexts, memory_format("%s:%s", function->pattern, contexts));
		free(contexts);
	}
	record_signals_begin();
	status = record_command(&options);
	if (!own->keep)
		rmdir(folder);
	for (size_t i = 0; i < options.contexts.count; i++)
		free((char *)options.contexts.word[i]);
	record_options_free(&options);
	free(trace);
	free(folder);
	return own->failed && !status ? RECORD_FAILED : status;
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many stacks (default: " OPTIONS_NUMBER(ALLOC_MOST) ")", .take = options_number,
		.most = UINT32_MAX, .at = offsetof(struct own, count), .allowed = "a number from 1 up" },
	{ 0, "sort", "KEY", "by bytes (default), calls, live, peak or temporary", .take = options_word,
		.at = offsetof(struct own, sort), .allowed = SORTS },
	{ 0, "temporary", "N", "a block is temporary that is freed before its thread\n"
		"allocates so many others (" OPTIONS_NUMBER(ALLOC_SOON) ")", .take = options_number,
		.most = INT32_MAX, .at = offsetof(struct own, soon), .allowed = "a number from 1 up" },
	{ 0, "keep", "DIR", "of a command: keep the trace in this folder", .take = options_text,
		.at = offsetof(struct own, keep) },
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "alloc",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit alloc [OPTION]... -- COMMAND [ARGUMENT]...\n"
		"       xaudit alloc [OPTION]... [DIR]\n"
		"Shows who allocated how much memory: of a command that it runs, on standard\n"
		"error; or from the trace in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

int alloc_main(int argc, char **argv)
{
	struct own own = { 0 };
	int status, words = 1;

	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words + 1 < argc) {
		char *dashes = argv[words];
		record_speaker = "alloc";
		argv[words] = NULL;
		int first = options_take(&syntax, &own, words, argv);
		argv[words] = dashes;
		if (first == words)
			return run(&own, argv + words + 1);
		if (first > 0)
			tool_error("alloc", "'%s' stands before the --, and is no option", argv[first]);
		return first ? RECORD_FAILED : TOOL_OK;
	}
	struct xaudit_read_trace *trace = show_begin(&own.show, &syntax, argc, argv, &status);
	if (!trace)
		return status;
	bool good = report(trace, &own, stdout);
	status = show_end_trace(trace);
	return good ? status : TOOL_FAILED;
}
