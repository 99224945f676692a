/* SPDX-License-Identifier: MIT */
/*
 * read_calls DIR|PID [threads]: reads the calls of a trace through xaudit-read.h, and adds them up as
 * `xaudit report --format=json` does: a line per function, as there (its first five members), and one line of sums.
 * threads: before that, a line for each call that is over: function, tid, name of the thread. Status 1, and a line on
 * standard error, where the trace is damaged.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/read/api/xaudit-read.h"

struct row {
	uint64_t calls, total, self, ended;
};

static struct row *row;
static uint32_t rows;

static struct row *row_of(const struct xaudit_read_function *function)
{
	for (; function->number >= rows; rows++) {
		row = realloc(row, (rows + 1) * sizeof(*row));
		if (!row)
			abort();
		row[rows] = (struct row){ 0 };
	}
	return &row[function->number];
}

int main(int argc, char **argv)
{
	struct xaudit_read_calls_options options = { .size = sizeof(options), .counted = 1 };
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = NULL;
	struct xaudit_read_calls *calls = NULL;
	struct xaudit_read_item item;
	bool threads = argc == 3 && !strcmp(argv[2], "threads");

	argc -= threads;
	if (argc == 2 && !argv[1][strspn(argv[1], "0123456789")])
		trace = xaudit_read_open_live((uint32_t)strtoul(argv[1], NULL, 10), &error);
	else if (argc == 2)
		trace = xaudit_read_open(argv[1], NULL, &error);
	if (trace)
		calls = xaudit_read_calls(trace, &options, &error);

	if (!calls) {
		fprintf(stderr, "%s\n", argc == 2 ? error.text : "usage: read_calls DIR|PID [threads]");
		return 1;
	}
	while (xaudit_read_next_call(calls, &item)) {
		struct row *to = row_of(item.function);
		to->calls += item.what == XAUDIT_READ_COUNTED ? item.count : 1;
		if (item.what == XAUDIT_READ_COUNTED)
			continue;
		if (threads)
			printf("%s %" PRIu32 " %s\n", item.function->name, item.tid, item.thread);
		to->ended += item.call->end != XAUDIT_READ_UNKNOWN;
		to->total += item.call->total;
		to->self += item.call->self;
		if (item.call->children && !item.call->user[0])
			errx(1, "a call without calls in it has %" PRIu64 " ns of them", item.call->children);
		if (item.call->parent)
			item.call->parent->user[0]++;
	}
	for (uint32_t i = 0; i < rows; i++) {
		const struct xaudit_read_function *function = xaudit_read_function(trace, i);
		if (!row[i].calls)
			continue;
		printf("{\"function\":");
		json_string(stdout, function->name);
		printf(",\"library\":");
		json_string(stdout, function->object->path);
		printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64 "\n", row[i].calls,
			row[i].ended ? row[i].total : 0, row[i].self);
	}
	const struct xaudit_read_sums *sums = xaudit_read_calls_sums(calls);
	printf("{\"lost\":%" PRIu64 ",\"unfinished\":%" PRIu64 ",\"counted\":%" PRIu64 ",\"no_end\":%" PRIu64
	       ",\"orphans\":%" PRIu64 ",\"inherited\":%" PRIu64 ",\"overwritten_chunks\":%" PRIu64
	       ",\"crash_signal\":%d}\n",
		sums->lost, sums->unfinished, sums->counted, sums->off, sums->orphans, sums->inherited,
		sums->overwritten, sums->crashes ? sums->signal : 0);
	uint64_t places = xaudit_read_damage(trace, &error);
	if (error.why)
		fprintf(stderr, "%s (%" PRIu64 ")\n", error.text, places);
	xaudit_read_close(trace);
	free(row);
	return error.why != XAUDIT_READ_OK;
}
