/* SPDX-License-Identifier: MIT */
/*
 * read_part DIR FROM TO: what xaudit-read.h gives of the time between the two (ns after the trace's start; TO 0: the
 * end) must be what it gives of all, but for what comes before and behind. Prints how many items there are of calls,
 * how many with values, requests and custom events, and how many events; then the first that differs, if one does.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/read/api/xaudit-read.h"

static uint64_t from, to; /* moments; to 0: the end */
static uint64_t items;

static bool is_in(uint64_t time)
{
	return time >= from && (!to || time < to);
}

/* A call that is open, or over, and what is around it. Which number a function has depends on what is read. */
static void print_call(FILE *out, const struct xaudit_read_call *call)
{
	fprintf(out, " how %" PRIu32, call->how);
	if (call->entered)
		fprintf(out, " valued");
	for (; call; call = call->parent)
		fprintf(out, " | %s %" PRIu32 ".%" PRIu32 " %" PRIu64 " %" PRIu32 " %s", call->function->name,
			call->tid, call->stack, call->start, call->depth, call->request ? call->request : "");
}

static char *calls_of(struct xaudit_read_trace *trace, bool part, bool more)
{
	struct xaudit_read_calls_options options = { .size = sizeof(options), .enters = 1 };
	struct xaudit_read_item item;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	options.customs = options.values = options.requests = more;
	options.from = part ? from : 0;
	options.to = part ? to : 0;
	struct xaudit_read_calls *calls = xaudit_read_calls(trace, &options, NULL);
	items = 0;
	while (xaudit_read_next_call(calls, &item)) {
		bool of_call = item.what == XAUDIT_READ_CALL || item.what == XAUDIT_READ_ENTER;
		if (!is_in(of_call ? item.call->start : item.time))
			continue;
		items++;
		fprintf(out, "%d %" PRIu64 " %s", item.what, item.time, item.thread);
		if (of_call)
			fprintf(out, " self %" PRIu64 " in it %" PRIu64, item.call->ticks.self,
				item.call->ticks.children);
		if (item.call)
			print_call(out, item.call);
		putc('\n', out);
	}
	xaudit_read_calls_close(calls);
	fclose(out);
	return text;
}

static char *events_of(struct xaudit_read_trace *trace, bool part)
{
	struct xaudit_read_events_options options = { .size = sizeof(options), .from = part ? from : 0 };
	struct xaudit_read_events *events = xaudit_read_events(trace, &options, NULL);
	struct xaudit_read_event event;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	items = 0;
	while (xaudit_read_next_event(events, &event)) {
		if (!is_in(event.time))
			continue;
		items++;
		fprintf(out, "%d %" PRIu64 " %" PRIu32 " stack %" PRIu32 " depth %" PRIu32 " ends %" PRIu32
			" count %" PRIu64 " at %" PRIx64, event.what, event.time, event.tid, event.stack, event.depth,
			event.ends, event.count, event.address);
		if (event.call && event.call->start >= from)
			fprintf(out, " self %" PRIu64 " in it %" PRIu64, event.call->self, event.call->children);
		if (event.call)
			print_call(out, event.call);
		putc('\n', out);
	}
	xaudit_read_events_close(events);
	fclose(out);
	return text;
}

static void compare(char *all, char *part)
{
	char *a = all, *b = part;

	printf("%" PRIu64 " ", items);
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a || *b) {
		while (a > all && a[-1] != '\n')
			a--;
		while (b > part && b[-1] != '\n')
			b--;
		printf("of all %.*s, of the part %.*s ", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
	}
	free(all);
	free(part);
}

int main(int argc, char **argv)
{
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = argc == 4 ? xaudit_read_open(argv[1], NULL, &error) : NULL;

	if (!trace) {
		fprintf(stderr, "usage: read_part DIR FROM TO\n");
		return 1;
	}
	const uint64_t start = xaudit_read_trace_info(trace)->start;
	from = start + strtoull(argv[2], NULL, 10);
	to = strtoull(argv[3], NULL, 10);
	to = to ? start + to : 0;
	for (int more = 0; more < 2; more++) {
		char *all = calls_of(trace, false, more);
		compare(all, calls_of(trace, true, more));
	}
	char *all = events_of(trace, false);
	compare(all, events_of(trace, true));
	putchar('\n');
	xaudit_read_close(trace);
	return 0;
}
