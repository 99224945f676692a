/* SPDX-License-Identifier: MIT */
/*
 * read_events [--leaves|--dump] DIR: the events that xaudit-read.h gives, in the order of time. A line for each:
 *	TIME TID WHAT [FUNCTION|TYPE|PATH|WORD] depth N [stack N] [count N] [load N] [signal N]
 * and of a call that is over, how it ended and its time, self and that of the calls in it. With --dump, the first four
 * members of what `xaudit dump --format=json` writes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/read/api/xaudit-read.h"

static const char *const word[] = {
	[XAUDIT_READ_EVENT_ENTRY] = "entry", [XAUDIT_READ_EVENT_EXIT] = "exit", [XAUDIT_READ_EVENT_TAIL] = "tail",
	[XAUDIT_READ_EVENT_UNWIND] = "unwind", [XAUDIT_READ_EVENT_POINT] = "point",
	[XAUDIT_READ_EVENT_CUSTOM] = "custom", [XAUDIT_READ_EVENT_LOAD] = "load",
	[XAUDIT_READ_EVENT_UNLOAD] = "unload", [XAUDIT_READ_EVENT_CHANGE] = "change",
	[XAUDIT_READ_EVENT_LOST] = "lost", [XAUDIT_READ_EVENT_GONE] = "gap", [XAUDIT_READ_EVENT_CRASH] = "crash",
	[XAUDIT_READ_EVENT_THREAD] = "thread", [XAUDIT_READ_EVENT_STACK] = "stack",
	[XAUDIT_READ_EVENT_PART] = "part", [XAUDIT_READ_EVENT_UNFINISHED] = "unfinished",
};
static const char *const how[] = { "open", "returned", "jumped", "unwound", "cut", "no end", "off", "point" };

static void print_call(const struct xaudit_read_call *call)
{
	printf(" [%s %s", call->function->name, how[call->how]);
	if (call->end != XAUDIT_READ_UNKNOWN)
		printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, call->end - call->start, call->self, call->children);
	printf("]");
}

static void print(const struct xaudit_read_event *event)
{
	const char *about = event->function ? event->function->name :
		event->change		    ? event->change->word :
		event->object		    ? event->object->path :
					      event->type;

	printf("%" PRIu64 " %" PRIu32 " %s", event->time, event->tid, word[event->what]);
	if (about)
		printf(" %s", about);
	if (event->what == XAUDIT_READ_EVENT_CUSTOM)
		printf(" %.*s", (int)event->data_size, (const char *)event->data);
	printf(" depth %" PRIu32, event->depth);
	if (event->stack)
		printf(" stack %" PRIu32, event->stack);
	if (event->count)
		printf(" count %" PRIu64, event->count);
	if (event->load)
		printf(" load %" PRIu32, event->load);
	if (event->signal)
		printf(" signal %d", event->signal);
	const struct xaudit_read_call *call = event->call;
	if (event->what == XAUDIT_READ_EVENT_ENTRY || event->what == XAUDIT_READ_EVENT_POINT)
		print_call(call);
	for (uint32_t i = 0; i < event->ends; i++, call = call->parent)
		print_call(call);
	for (uint64_t i = 0; event->what == XAUDIT_READ_EVENT_UNFINISHED && i < event->count; i++, call = call->parent)
		print_call(call);
	putchar('\n');
}

static void dump(const struct xaudit_read_event *event)
{
	const struct xaudit_read_function *function =
		event->change && event->change->function ? event->change->function : event->function;

	switch (event->what) {
	case XAUDIT_READ_EVENT_STACK:
	case XAUDIT_READ_EVENT_PART:
	case XAUDIT_READ_EVENT_THREAD:
	case XAUDIT_READ_EVENT_UNFINISHED:
		return;
	case XAUDIT_READ_EVENT_GONE:
		if (!event->count)
			return;
	}
	printf("{\"time_ns\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"event\":\"%s\",\"function\":", event->time, event->tid,
		event->what == XAUDIT_READ_EVENT_POINT ? "entry" : word[event->what]);
	json_string(stdout, function ? function->name : NULL);
	printf(",\"library\":");
	json_string(stdout, function ? function->object->path : event->object ? event->object->path : NULL);
	if (event->address == XAUDIT_READ_UNKNOWN)
		printf(",\"address\":null\n");
	else
		printf(",\"address\":\"0x%" PRIx64 "\"\n", event->address);
}

int main(int argc, char **argv)
{
	int all = argc > 2 && !strcmp(argv[1], "--dump");
	struct xaudit_read_events_options options = {
		.size = sizeof(options), .leaves = argc > 2 && !strcmp(argv[1], "--leaves")
	};
	struct xaudit_read_error error;
	struct xaudit_read_trace *trace = argc > 1 ? xaudit_read_open(argv[argc - 1], NULL, &error) : NULL;
	struct xaudit_read_events *events = trace ? xaudit_read_events(trace, &options, &error) : NULL;
	struct xaudit_read_event event;

	if (!events) {
		fprintf(stderr, "%s\n", argc > 1 ? error.text : "usage: read_events [--leaves|--dump] DIR");
		return 1;
	}
	while (xaudit_read_next_event(events, &event)) {
		if (all)
			dump(&event);
		else
			print(&event);
	}
	uint64_t places = xaudit_read_damage(trace, &error);
	if (error.why)
		fprintf(stderr, "%s (%" PRIu64 ")\n", error.text, places);
	xaudit_read_close(trace);
	return error.why != XAUDIT_READ_OK;
}
