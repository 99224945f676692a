/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/count.h"

#include <stdlib.h>

#include "tool/read/damage/memory.h"
#include "tool/read/events/ahead.h"
#include "tool/read/events/counts.h"
#include "tool/read/process_load.h"
#include "tool/read/profile/loop.h"

#define PAGE_MASK ((1u << READ_COUNT_PAGE_BITS) - 1)

/* Nothing is ever written to it. */
static uint32_t no_page[1u << READ_COUNT_PAGE_BITS];

bool read_count_open(struct read_count *c, const struct read_count_setup *setup, struct read_damage *damage)
{
	*c = (struct read_count){ .setup = setup, .damage = damage, .no_page = no_page };
	c->page = read_memory_zeroed(damage, READ_COUNT_PAGES, sizeof(*c->page));
	for (uint32_t i = 0; c->page && i < READ_COUNT_PAGES; i++)
		c->page[i] = no_page;
	if (c->page && read_rows_open(&c->rows, damage))
		return true;
	free(c->page);
	return false;
}

void read_count_close(struct read_count *c)
{
	free(c->page);
	read_rows_close(&c->rows);
	read_customs_free(&c->customs);
	read_probes_free(&c->probes);
}

/* ---- records ---- */

static bool open_record(struct read_count *c, struct read_turns_record *record, unsigned number, bool by_turns)
{
	if (c->damage->no_memory || !read_turns_open(record, c->process, number, by_turns, &c->stacks, c->sched))
		return false;
	record->source.block = c->setup->block;
	record->source.block_user = c->user;
	return true;
}

static void close_record(struct read_count *c, struct read_turns_record *record)
{
	read_count_record_ends(c, record);
	c->sums.overwritten += record->source.stream.chunks.overwritten;
	c->customs.unfinished += record->source.decoder.unfinished;
	c->sums.valued += record->source.decoder.valued;
	read_turns_close(record, &c->stacks);
}

static void count_by_turns(struct read_count *c)
{
	struct read_turns_record *record = read_memory_zeroed(c->damage, c->process->threads, sizeof(*record)), *first;
	unsigned records = 0;

	if (!record)
		return;
	for (unsigned i = 0; i < c->process->threads; i++)
		records += open_record(c, &record[records], i, true);
	while (!c->damage->no_memory && (first = read_turns_first(record, records)))
		read_count_events(c, first);
	for (unsigned i = 0; i < records; i++)
		close_record(c, &record[i]);
	free(record);
}

uint32_t read_count_tasks(const struct read_process *process)
{
	return read_turns_needed(process) ? 1 : process->threads;
}

void read_count_records(struct read_count *c, uint32_t task, uint32_t number)
{
	struct read_turns_record record;

	c->task = task;
	if (read_turns_needed(c->process)) {
		count_by_turns(c);
	} else if (open_record(c, &record, number, false)) {
		read_count_events(c, &record);
		close_record(c, &record);
	}
}

/* ---- counters ---- */

static uint32_t row_of_counter(struct read_count *c, const struct read_counts *counts, uint32_t thread_row)
{
	if (read_count_is_by_thread(c))
		return thread_row;
	const uint32_t *page = c->page[counts->id >> READ_COUNT_PAGE_BITS];
	if (page[counts->id & PAGE_MASK])
		return page[counts->id & PAGE_MASK];
	const struct read_function *function = read_process_function_now(c->process, counts->id);
	if (!function && !c->process->head.meta_lost)
		read_counts_damage(counts, "calls of a function that meta does not name");
	return read_count_row_of_function(c, function, counts->id);
}

static void count_counters(struct read_count *c, unsigned number, struct read_counts *counts)
{
	uint32_t thread_row = 0;

	if (!read_counts_open(counts, c->process, number))
		return;
	if (read_count_is_by_thread(c))
		thread_row = read_count_row_of_thread(
			c, counts->head.tid, counts->head.comm, sizeof(counts->head.comm), false);
	while (read_counts_next(counts)) {
		const struct read_function *function = read_process_function(c->process, counts->id);
		if (function && function->kind == TRACE_KIND_PROBE) {
			read_probes_add(&c->probes, counts->id, counts->calls);
			continue;
		}
		uint32_t n = row_of_counter(c, counts, thread_row); /* may move the rows */
		struct read_row *row = &c->rows.row[n];
		row->untimed += counts->calls;
		row->counted += counts->calls;
		c->sums.counted += counts->calls;
	}
	read_counts_close(counts);
}

static void count_all_counters(struct read_count *c)
{
	struct read_counts *counts = read_memory_zeroed(c->damage, 1, sizeof(*counts));

	for (unsigned i = 0; counts && i < c->process->threads; i++)
		if (c->process->files[i] & READ_FILE_COUNTS)
			count_counters(c, i, counts);
	free(counts);
}

/* ---- changes ---- */

/* Marks the rows of functions that are only counted since some moment. */
static void mark_throttled(struct read_count *c)
{
	const struct read_process *process = c->process;

	for (uint32_t i = 0; c->setup->by == XAUDIT_READ_BY_FUNCTION && i < process->changes; i++) {
		const struct read_change *change = &process->change[i];
		const struct read_function *function =
			change->value <= TRACE_ID_MASK ? read_process_function(process, (uint32_t)change->value) : NULL;
		if (change->what != TRACE_CHANGE_THROTTLED || !function)
			continue;
		uint32_t n = read_count_row_of_function(c, function, function->id); /* may move the rows */
		struct read_row *row = &c->rows.row[n];
		if (row->throttled)
			continue;
		uint64_t start = process->head.first.ticks;
		row->throttled = read_clock_time(&process->clock, change->clock);
		row->throttled_after =
			change->clock > start ? read_clock_span(&process->clock, change->clock - start) : 0;
		row->throttled_task = c->task;
	}
}

/* ---- processes ---- */

void read_count_begin(struct read_count *c, struct read_process *process, uint32_t trace, uint32_t number,
	uint64_t start, const struct read_sched *sched)
{
	const struct read_count_setup *setup = c->setup;

	c->process = process;
	c->trace = trace;
	c->number = number;
	c->sched = sched;
	c->damage = process->family->damage;
	c->filtered = setup->tid || setup->from || setup->to;
	c->from = setup->from ? read_ahead_ticks(&process->clock, start + setup->from) : 0;
	c->to = setup->to ? read_ahead_ticks(&process->clock, start + setup->to) : UINT64_MAX;
	read_probes_begin(&c->probes, process, start);
	read_stops_find(&c->stops, process);
}

void read_count_end(struct read_count *c)
{
	read_stacks_close(&c->stacks);
	read_customs_process_ends(&c->customs);
	for (; c->pages; c->pages--) {
		if (c->page[c->pages - 1] != no_page)
			free(c->page[c->pages - 1]);
		c->page[c->pages - 1] = no_page;
	}
	read_stops_free(&c->stops);
	c->process = NULL;
}

void read_count_rest(struct read_count *c, uint32_t task)
{
	c->task = task;
	if (!c->filtered)
		count_all_counters(c);
	mark_throttled(c);
	c->sums.lost += c->process->head.lost;
}

void read_count_merge(struct read_count *to, struct read_count *from)
{
	struct read_count_sums *a = &to->sums, *b = &from->sums;

	a->lost += b->lost;
	a->unfinished += b->unfinished;
	a->orphans += b->orphans;
	a->inherited += b->inherited;
	a->points += b->points;
	a->counted += b->counted;
	a->no_end += b->no_end;
	a->overwritten += b->overwritten;
	a->valued += b->valued;
	if (b->crashes && (!a->crashes || b->signal_task > a->signal_task)) {
		a->signal = b->signal;
		a->signal_task = b->signal_task;
	}
	a->crashes += b->crashes;
	read_rows_merge(&to->rows, &from->rows, to->damage);
	read_customs_merge(&to->customs, &from->customs, to->damage);
	read_probes_merge(&to->probes, &from->probes, to->damage);
}
