/* SPDX-License-Identifier: MIT */
#include "tool/alloc/read.h"

#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/show/show_trace.h"

struct process {
	struct xaudit_read_process *read;
	struct alloc_process *is; /* NULL: it has ended */
	uint64_t end;
};

struct reading {
	struct alloc_account_book *book;
	struct process *process; /* by their ends */
	uint32_t processes;
	struct hash by_read;
	uint32_t ended; /* so many of the first ones */
	uint32_t last;	/* the one that was looked for last */
};

static int by_end(const void *x, const void *y)
{
	const struct process *a = x, *b = y;

	return a->end < b->end ? -1 : a->end > b->end;
}

/* When the process ended; UINT64_MAX: that is not known, so it is taken to be there up to the end of the trace. */
static uint64_t end_of(struct xaudit_read_trace *trace, struct xaudit_read_process *read)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(read), *other;
	uint64_t end = xaudit_read_process_state(read) == XAUDIT_READ_STATE_ENDED ? info->end : UINT64_MAX;
	struct xaudit_read_process *next;

	/* What executed another program goes on as that one. */
	for (uint32_t i = 0; end == UINT64_MAX && (next = xaudit_read_process(trace, i)); i++) {
		other = xaudit_read_process_info(next);
		if (other->pid == info->pid && other->start > info->start)
			end = other->start - 1;
	}
	return end;
}

static void find_processes(struct reading *reading, struct xaudit_read_trace *trace)
{
	uint32_t count = xaudit_read_trace_info(trace)->processes;
	struct xaudit_read_process *read;

	reading->process = memory_zeroed(count + 1, sizeof(*reading->process));
	for (uint32_t i = 0; i < count && (read = xaudit_read_process(trace, i)); i++)
		reading->process[reading->processes++] = (struct process){
			.read = read, .is = alloc_process_begin(reading->book), .end = end_of(trace, read) };
	qsort(reading->process, reading->processes, sizeof(*reading->process), by_end);
	for (uint32_t i = 0; i < reading->processes; i++)
		memory_hash(&reading->by_read, hash_key((uintptr_t)reading->process[i].read, 0), i);
}

static void end_process(struct reading *reading, struct process *process)
{
	alloc_process_end(process->is, reading->book->end);
	process->is = NULL;
}

/* Of those that have ended before that time nothing is live: but of the one that did something then. */
static void end_processes(struct reading *reading, const struct alloc_process *but, uint64_t time)
{
	for (struct process *process; reading->ended < reading->processes; reading->ended++) {
		process = &reading->process[reading->ended];
		if (process->end >= time || process->is == but)
			return;
		end_process(reading, process);
	}
}

/* NULL: what it did after its end. */
static struct alloc_process *process_of(struct reading *reading, const struct xaudit_read_process *read)
{
	if (reading->process[reading->last].read != read) {
		uint32_t found = HASH_FIND(i, &reading->by_read, hash_key((uintptr_t)read, 0),
			reading->process[i].read == read);
		if (found == HASH_NONE)
			return NULL;
		reading->last = found;
	}
	return reading->process[reading->last].is;
}

static void take_point(struct alloc_process *process, const struct xaudit_read_event *event)
{
	struct xaudit_read_call call = { .parent = event->call, .function = event->function, .tid = event->tid,
		.how = XAUDIT_READ_POINT, .entered = event->values };

	alloc_call_begins(process, &call, event->time);
	alloc_call_ends(process, &call, event->time);
}

static void take_event(struct reading *reading, const struct xaudit_read_event *event)
{
	struct alloc_account_book *book = reading->book;
	struct xaudit_read_call *call = event->call;

	book->lost += event->what == XAUDIT_READ_EVENT_LOST ? event->count : 0;
	book->gone += event->what != XAUDIT_READ_EVENT_GONE ? 0 : event->count ? event->count : 1;
	if (event->what > XAUDIT_READ_EVENT_POINT && event->what != XAUDIT_READ_EVENT_UNFINISHED)
		return;
	struct alloc_process *process = process_of(reading, event->process);
	if (!process)
		return;
	if (event->what == XAUDIT_READ_EVENT_POINT) {
		take_point(process, event);
		return;
	}
	if (event->what == XAUDIT_READ_EVENT_ENTRY) {
		end_processes(reading, process, event->time);
		alloc_call_begins(process, call, event->time);
		return;
	}
	uint64_t calls = event->what == XAUDIT_READ_EVENT_UNFINISHED ? event->count : event->ends;
	for (uint64_t i = 0; i < calls && call; i++, call = call->parent)
		alloc_call_ends(process, call, event->time ? event->time : book->end);
}

void alloc_read(struct alloc_account_book *book, struct xaudit_read_trace *trace)
{
	struct xaudit_read_events_options options = { .size = sizeof(options) };
	struct reading reading = { .book = book };
	struct xaudit_read_error error;
	struct xaudit_read_event event;

	find_processes(&reading, trace);
	struct xaudit_read_events *events = memory_need(xaudit_read_events(trace, &options, &error));
	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END)
		take_event(&reading, &event);
	show_trace_need_memory(trace);
	xaudit_read_events_close(events);
	for (; reading.ended < reading.processes; reading.ended++)
		end_process(&reading, &reading.process[reading.ended]);
	hash_free(&reading.by_read);
	free(reading.process);
}
