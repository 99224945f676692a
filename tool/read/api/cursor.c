/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/cpu.h"
#include "tool/read/api/cursor_items.h"
#include "tool/read/api/cursor_requests.h"
#include "tool/read/api/cursor_stacks.h"
#include "tool/read/api/cursor_values.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/threads.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/ahead.h"
#include "tool/read/state.h"

/* ---- records ---- */

static bool open_record(struct xaudit_read_calls *c, struct read_turns_record *record, unsigned number)
{
	return read_turns_open(record, c->process->read, number, c->by_turns, &c->stacks, c->sched);
}

/* The calls that are open on its stacks wait to be told. */
static void close_record(struct xaudit_read_calls *c, struct read_turns_record *record)
{
	read_api_drop(c, record);
	c->record = NULL;
	c->sums.overwritten += record->source.stream.chunks.overwritten;
	c->sums.custom_unfinished += record->source.decoder.unfinished;
	read_turns_close(record, &c->stacks);
}

/* Goes to the record that is read next. Returns false if all were read. */
static bool next_record(struct xaudit_read_calls *c)
{
	struct read_turns_record *record;
	unsigned threads = c->process->read->threads;

	if (!c->by_turns) {
		record = c->records;
		do {
			if (c->next_record == threads || c->damage->no_memory)
				return false;
		} while (!open_record(c, record, c->next_record++));
		c->open = 1;
	} else if (!(record = read_turns_first(c->records, c->open))) {
		if (c->closed == c->open)
			return false;
		close_record(c, &c->records[c->closed++]);
		return true;
	}
	c->record = record;
	record->turn = false;
	read_api_take_up(c, record->stack);
	return true;
}

static void go_on(struct xaudit_read_calls *c)
{
	struct read_turns_record *record = c->record;

	read_api_read_on(c);
	if (!record->over && !record->turn)
		return;
	read_api_lay_down(c);
	c->record = NULL;
	if (!c->by_turns) {
		c->open = 0;
		close_record(c, record);
	}
}

/* ---- counters ---- */

static bool open_counts(struct xaudit_read_calls *c)
{
	const struct read_process *process = c->process->read;

	for (; c->next_counts < process->threads && !c->damage->no_memory; c->next_counts++) {
		if (!(process->files[c->next_counts] & READ_FILE_COUNTS))
			continue;
		struct read_counts *counts = read_memory_zeroed(c->damage, 1, sizeof(*counts));
		if (counts && read_counts_open(counts, c->process->read, c->next_counts)) {
			c->next_counts++;
			c->counts = counts;
			return true;
		}
		free(counts);
	}
	return false;
}

static void close_counts(struct xaudit_read_calls *c)
{
	if (c->counts)
		read_counts_close(c->counts);
	free(c->counts);
	c->counts = NULL;
}

/* Tells of the next counter. Returns false if there are no more. */
static bool next_counter(struct xaudit_read_calls *c)
{
	struct read_process *process = c->process->read;
	struct read_counts *counts = c->counts;

	if (!counts)
		return false;
	if (!read_counts_next(counts)) {
		close_counts(c);
		return true;
	}
	const struct read_function *function = read_process_function_now(process, counts->id);
	if (!function && !process->head.meta_lost)
		read_counts_damage(counts, "calls of a function that meta does not name");
	bool is_probe = read_api_is_probe(function), named;
	if (is_probe && !c->probes)
		return true;
	c->sums.counted += is_probe ? 0 : counts->calls;
	c->other = (struct xaudit_read_item){
		.what = is_probe ? XAUDIT_READ_PROBES_COUNTED : XAUDIT_READ_COUNTED,
		.tid = counts->head.tid,
		.process = c->process,
		.function = is_probe ? NULL : read_api_function(c->process, function),
		.probe = is_probe ? read_api_probe(c->process, counts->id, &named) : NULL,
		.thread = "",
		.time = read_clock_time(&process->clock, process->head.last.ticks),
		.count = counts->calls,
	};
	c->ready = true;
	return true;
}

/* ---- processes ---- */

/* Returns false if there is none left. */
static bool begin_process(struct xaudit_read_calls *c)
{
	if (c->next_process == c->last_process)
		return false;
	c->process = &c->trace->process[c->next_process++];
	read_api_take(c->process);
	struct read_process *process = c->process->read;
	c->lost_told = 0;
	c->from_ticks = c->from ? read_ahead_ticks(&process->clock, c->from) : 0;
	c->to_ticks = c->to != UINT64_MAX ? read_ahead_ticks(&process->clock, c->to) : UINT64_MAX;
	c->next_record = c->open = c->closed = c->next_counts = 0;
	c->by_turns = read_turns_needed(process);
	c->records = read_memory_zeroed(c->damage, c->by_turns ? process->threads : 1, sizeof(*c->records));
	if (!read_stops_find(&c->stops, process) || !c->records)
		return true;
	for (unsigned i = 0; c->by_turns && i < process->threads; i++)
		c->open += open_record(c, &c->records[c->open], i);
	return true;
}

/* Where reading ends before its time, records are still open. */
static void leave_process(struct xaudit_read_calls *c)
{
	if (c->stack)
		read_api_lay_down(c);
	for (unsigned i = c->closed; i < c->open; i++)
		read_events_close(&c->records[i].source);
	c->record = NULL;
	read_stacks_each(&c->stacks, NULL, read_api_request_drop, c);
	read_stacks_close(&c->stacks);
	close_counts(c);
	for (; c->pages; c->pages--) {
		free(c->page[c->pages - 1]);
		c->page[c->pages - 1] = NULL;
	}
	free(c->records);
	read_stops_free(&c->stops);
	c->records = NULL;
	if (c->process)
		read_api_leave(c->process);
	c->process = NULL;
}

static void end_process(struct xaudit_read_calls *c)
{
	struct xaudit_read_process *process = c->process;
	const struct trace_head *head = &process->read->head;
	uint64_t rest = head->lost - c->lost_told;
	int signal = read_process_killed(process->read);

	if (signal) {
		c->sums.crashes++;
		c->sums.signal = signal;
	}
	c->sums.lost += rest;
	if (c->losses && rest) {
		c->other = (struct xaudit_read_item){
			.what = XAUDIT_READ_LOST,
			.process = process,
			.thread = "",
			.time = read_clock_time(&process->read->clock, head->last.ticks),
			.count = rest,
		};
		c->ready = true;
	}
	leave_process(c);
}

/* Does what comes next. Returns false at the end. */
static bool step(struct xaudit_read_calls *c)
{
	if (c->record)
		go_on(c);
	else if (!c->process)
		return begin_process(c);
	else if (!next_record(c) && !next_counter(c) && !(c->counted && open_counts(c)))
		end_process(c);
	return true;
}

/* ---- items ---- */

/*
 * The name of the thread that began the call: its record may be over, or have another thread by now; and on a stack
 * that moves another thread may end the call.
 */
static const char *thread_of(const struct xaudit_read_calls *c, const struct xaudit_read_call *call)
{
	if (c->record && c->record->source.decoder.tid == call->tid)
		return c->record->thread;
	return read_api_thread_name(call->process, call->tid);
}

/* Each member by itself: gcc would clear the whole by an instruction that takes longer than all else here. */
static int tell_call(struct xaudit_read_calls *c, struct xaudit_read_item *item, int what, struct api_call *call)
{
	item->what = what;
	item->tid = call->public.tid;
	item->process = call->public.process;
	item->call = &call->public;
	item->function = call->public.function;
	item->thread = thread_of(c, &call->public);
	item->time = what == XAUDIT_READ_ENTER ? call->public.start : call->public.end;
	item->count = 0;
	item->type = NULL;
	item->type_number = 0;
	item->data_size = 0;
	item->data = NULL;
	item->probe = NULL;
	item->values = NULL;
	item->reserved[0] = item->reserved[1] = 0;
	return what;
}

static int take_waiting(struct xaudit_read_calls *c, struct xaudit_read_item *item)
{
	struct api_call *call = c->waiting;

	if (call) {
		c->waiting = call->next;
		if (!c->waiting)
			c->waiting_end = &c->waiting;
		c->told = call;
		c->ready = c->waiting || c->other.what;
		int what = tell_call(c, item, XAUDIT_READ_CALL, call);
		if (call->public.end == XAUDIT_READ_UNKNOWN)
			item->time = read_clock_time(&call->public.process->read->clock, call->time);
		return what;
	}
	c->ready = false;
	if (c->entered) {
		call = c->entered;
		c->entered = NULL;
		return tell_call(c, item, XAUDIT_READ_ENTER, call);
	}
	*item = c->other;
	c->other.what = 0;
	return item->what;
}

int xaudit_read_next_call(struct xaudit_read_calls *c, struct xaudit_read_item *item)
{
	if (c->told) {
		c->told->next = c->spare;
		c->spare = c->told;
		c->told = NULL;
	}
	for (;;) {
		if (c->ready && !c->damage->no_memory)
			return take_waiting(c, item);
		if (c->damage->no_memory || !step(c)) {
			c->ended = true;
			*item = (struct xaudit_read_item){ .what = XAUDIT_READ_END, .thread = "" };
			return item->what;
		}
	}
}

static struct xaudit_read_flat flat_of(const struct xaudit_read_item *item)
{
	const struct xaudit_read_call *call = item->call;

	if (item->what == XAUDIT_READ_COUNTED)
		return (struct xaudit_read_flat){
			.id = XAUDIT_READ_UNKNOWN,
			.parent = XAUDIT_READ_UNKNOWN,
			.start = XAUDIT_READ_UNKNOWN,
			.end = XAUDIT_READ_UNKNOWN,
			.cpu = XAUDIT_READ_UNKNOWN,
			.count = item->count,
			.function = item->function->number,
			.process = item->process->number,
			.tid = item->tid,
		};
	return (struct xaudit_read_flat){
		.id = call->id,
		.parent = call->parent ? call->parent->id : XAUDIT_READ_UNKNOWN,
		.start = call->start,
		.end = call->end,
		.self = call->self,
		.total = call->total,
		.cpu = call->cpu,
		.count = 1,
		.function = call->function->number,
		.process = call->process->number,
		.tid = call->tid,
		.stack = call->stack,
		.depth = call->depth,
		.how = call->how,
	};
}

size_t xaudit_read_next_flat(struct xaudit_read_calls *c, struct xaudit_read_flat *to, size_t room)
{
	struct xaudit_read_item item;
	size_t n = 0;
	int what;

	while (n < room && (what = xaudit_read_next_call(c, &item)))
		if (what == XAUDIT_READ_CALL || what == XAUDIT_READ_COUNTED)
			to[n++] = flat_of(&item);
	return n;
}

const struct xaudit_read_sums *xaudit_read_calls_sums(const struct xaudit_read_calls *c)
{
	return &c->sums;
}

uint64_t xaudit_read_calls_ns(const struct xaudit_read_calls *c, uint64_t ticks)
{
	return read_clock_span(&c->unit, ticks);
}

void xaudit_read_calls_done(struct xaudit_read_calls *c, uint64_t *done, uint64_t *all)
{
	if (!c->all)
		for (uint32_t i = c->first_process; i < c->last_process; i++)
			c->all += read_process_event_bytes(c->trace->process[i].read);
	/* Events in meta are not in the sum; and of what is in both files some may be read there. */
	c->all = c->all > c->done ? c->all : c->done;
	*all = c->all;
	*done = c->ended ? c->all : c->done;
}

/* ---- all ---- */

/* Returns why the options can't be, or NULL. */
static const char *take_options(struct xaudit_read_calls *c, const struct xaudit_read_calls_options *options)
{
	const struct xaudit_read_process *process = READ_API_OPTION(options, process);

	c->enters = READ_API_OPTION(options, enters);
	c->customs = READ_API_OPTION(options, customs);
	c->probes = READ_API_OPTION(options, probes);
	c->losses = READ_API_OPTION(options, losses);
	c->counted = READ_API_OPTION(options, counted);
	c->requests = READ_API_OPTION(options, requests);
	c->values = READ_API_OPTION(options, values) || c->requests;
	c->to_end = c->customs || c->probes || c->losses || READ_API_OPTION(options, sums);
	c->tid = READ_API_OPTION(options, tid);
	c->from = READ_API_OPTION(options, from);
	c->to = READ_API_OPTION(options, to);
	c->to = c->to ? c->to : UINT64_MAX;
	c->last_process = c->trace->info.processes;
	if (READ_API_NO_SIZE(options))
		return READ_API_NO_SIZE(options);
	if (process && process->trace != c->trace)
		return "the process is of another trace";
	if (process) {
		c->first_process = c->next_process = process->number;
		c->last_process = process->number + 1;
	}
	return c->from > c->to ? "the time ends before it begins" : NULL;
}

static void find_unit(struct xaudit_read_calls *c)
{
	const struct xaudit_read_process *process = c->trace->process;

	c->unit = process[c->next_process].read->clock;
	for (uint32_t i = c->next_process; i < c->last_process; i++)
		c->scale |= !read_clock_same_rate(&c->unit, &process[i].read->clock);
	if (c->scale)
		c->unit.mult = READ_CLOCK_UNIT_MULT;
}

struct xaudit_read_calls *xaudit_read_calls(struct xaudit_read_trace *trace,
	const struct xaudit_read_calls_options *options, struct xaudit_read_error *error)
{
	struct read_damage *damage = &trace->folder->damage;
	struct xaudit_read_calls *c = read_memory_zeroed(damage, 1, sizeof(*c));

	read_api_error(error, XAUDIT_READ_OK, "");
	if (c)
		c->page = read_memory_zeroed(damage, API_PAGES, sizeof(*c->page));
	if (!c || !c->page) {
		free(c);
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		return NULL;
	}
	c->trace = trace;
	c->damage = damage;
	c->waiting_end = &c->waiting;
	const char *wrong = take_options(c, options);
	if (wrong) {
		free(c->page);
		free(c);
		read_api_error(error, XAUDIT_READ_USAGE, wrong);
		return NULL;
	}
	find_unit(c);
	c->sched = read_api_sched(trace);
	c->older = trace->calls;
	trace->calls = c;
	return c;
}

void xaudit_read_calls_close(struct xaudit_read_calls *c)
{
	struct xaudit_read_calls **at;

	if (!c)
		return;
	for (at = &c->trace->calls; *at != c;)
		at = &(*at)->older;
	*at = c->older;
	leave_process(c);
	for (uint32_t i = 0; i < c->slots; i++)
		free(c->slot[i]);
	for (uint32_t i = 0; i < c->blocks; i++) {
		if (c->values)
			read_api_free_values(c, c->block[i], api_block_calls(i));
		free(c->block[i]);
	}
	free(c->slot);
	free(c->block);
	free(c->other_values);
	free(c->dropped);
	free(c->page);
	free(c);
}
