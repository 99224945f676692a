/* SPDX-License-Identifier: MIT */
#include "tool/read/api/follow.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/now.h"
#include "tool/read/api/follow_record.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/stops.h"

#define FIRST_NS 1000000000u /* for the first look */

/* ---- counters ---- */

static bool want_counts(struct xaudit_read_follow *f, struct read_follow_thread *t, uint32_t counts)
{
	if (counts <= t->counts)
		return true;
	counts += counts / 2;
	if (!read_memory_resize(f->damage, &t->count, counts, sizeof(*t->count)) ||
		!read_memory_resize(f->damage, &t->now, counts, sizeof(*t->now)))
		return false;
	memset(t->count + t->counts, 0, (counts - t->counts) * sizeof(*t->count));
	memset(t->now + t->counts, 0, (counts - t->counts) * sizeof(*t->now));
	t->counts = counts;
	return true;
}

static void read_counters(struct xaudit_read_follow *f, unsigned number, bool first)
{
	struct read_counts *counts = &f->counts;
	struct read_follow_thread *t = &f->thread[number];

	if (!(f->read->files[number] & READ_FILE_COUNTS) || !read_counts_open(counts, f->read, number))
		return;
	while (read_counts_next(counts))
		if (want_counts(f, t, counts->id + 1))
			t->now[counts->id] += counts->calls;
	read_counts_close(counts);
	for (uint32_t id = 0; id < t->counts; id++) {
		uint64_t now = t->now[id], before = t->count[id];

		t->now[id] = 0;
		if (now <= before)
			continue;
		t->count[id] = now;
		struct read_follow_row *row = first ? NULL : read_follow_row(f, id);
		if (row)
			f->look.counted += now - before;
		else if (!first)
			row = read_follow_probe(f, id);
		if (row)
			row->counted += now - before;
	}
}

/* ---- all ---- */

/* Opens the files that are there now. */
static void find_files(struct xaudit_read_follow *f)
{
	unsigned threads;

	read_process_list_files(f->read);
	threads = f->read->threads;
	if (threads > f->threads && !read_memory_resize(f->damage, &f->thread, threads, sizeof(*f->thread)))
		return;
	for (; f->threads < threads; f->threads++) {
		struct read_follow_thread *t = &f->thread[f->threads];

		*t = (struct read_follow_thread){ .stacks = &f->stacks, .record = (const char *)f + f->threads };
		t->stack = read_stacks_enter(t->stacks, 0, t->record);
		f->damage->no_memory |= !t->stack;
		if (!t->stack)
			return;
		read_chunks_follow(&t->chunks, f->read, f->threads);
	}
	for (unsigned n = 0; n < f->threads; n++)
		read_chunks_look(&f->thread[n].chunks);
}

/* Calls whose end is switched off would seem to run for ever. */
static void see_changes(struct xaudit_read_follow *f)
{
	read_process_load(f->read);
	for (; f->changes < f->read->changes; f->changes++)
		if (read_stops_by(&f->read->change[f->changes]))
			read_follow_forget(f);
}

/* The newest chunk tells which calls are open: they may last for many looks. */
static void look_first(struct xaudit_read_follow *f)
{
	uint64_t until = tool_now() + FIRST_NS;

	f->changes = f->read->changes;
	f->lost_before = f->read->head.lost;
	find_files(f);
	for (unsigned n = 0; n < f->threads; n++) {
		struct read_follow_thread *t = &f->thread[n];
		if (read_follow_newest(f, t))
			read_follow_thread(f, t, until);
		read_counters(f, n, true);
	}
	f->look = (struct xaudit_read_look){ .threads = f->threads, .scale = 1 };
}

struct xaudit_read_follow *xaudit_read_follow(
	struct xaudit_read_process *process, int live, struct xaudit_read_error *error)
{
	struct xaudit_read_follow *f = read_memory_zeroed(process->read->family->damage, 1, sizeof(*f));

	read_api_error(error, XAUDIT_READ_OK, "");
	if (f) {
		f->process = process;
		f->read = process->read;
		f->damage = f->read->family->damage;
		f->live = live;
		f->next = process->trace->follows;
		process->trace->follows = f;
		read_api_take(process);
		look_first(f);
		if (!f->damage->no_memory)
			return f;
		xaudit_read_follow_close(f);
	}
	read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
	return NULL;
}

static void begin_rows(struct xaudit_read_follow *f)
{
	for (uint32_t i = 0; i < f->rows; i++)
		f->row[i].calls = f->row[i].counted = f->row[i].self = f->row[i].events = 0;
}

const struct xaudit_read_look *xaudit_read_follow_look(struct xaudit_read_follow *f, int live, uint64_t most)
{
	uint64_t until = tool_now() + most, lost;

	begin_rows(f);
	f->live = live;
	f->look = (struct xaudit_read_look){ .threads = f->threads, .lost = f->look.lost, .scale = 1 };
	f->words = f->words_skipped = 0;
	if (!read_process_read_head(f->read))
		return f->damage->no_memory ? NULL : &f->look;
	see_changes(f);
	find_files(f);
	for (unsigned n = 0; n < f->threads && !f->damage->no_memory; n++) {
		struct read_follow_thread *t = &f->thread[n];
		read_follow_thread(f, t, until);
		read_counters(f, n, false);
	}
	lost = f->read->head.lost;
	f->look.lost = lost > f->lost_before ? lost - f->lost_before : 0;
	f->look.scale = f->words ? 1 + (double)f->words_skipped / (double)f->words : 1;
	f->look.threads = f->threads;
	f->look.rows = f->rows;
	return f->damage->no_memory ? NULL : &f->look;
}

const struct xaudit_read_follow_row *xaudit_read_follow_row(struct xaudit_read_follow *f, uint32_t number)
{
	struct read_follow_row *row = number < f->rows ? &f->row[number] : NULL;

	if (!row)
		return NULL;
	const struct read_function *function = read_process_function_at(f->read, number);
	bool is_probe = read_api_is_probe(function), named;
	if (!row->public.function)
		row->public.function = read_api_function(f->process, is_probe ? NULL : function);
	if (is_probe && !row->public.probe)
		row->public.probe = read_api_probe(f->process, function->id, &named);
	if (!row->public.function || (is_probe && !row->public.probe))
		return NULL;
	row->public.events = row->events;
	row->public.calls = row->calls;
	row->public.counted = row->counted;
	row->public.self = read_clock_span(&f->read->clock, row->self);
	return &row->public;
}

void xaudit_read_follow_close(struct xaudit_read_follow *f)
{
	struct xaudit_read_follow **at;

	if (!f)
		return;
	for (at = &f->process->trace->follows; *at != f;)
		at = &(*at)->next;
	*at = f->next;
	for (unsigned n = 0; n < f->threads; n++) {
		read_chunks_close(&f->thread[n].chunks);
		free(f->thread[n].count);
		free(f->thread[n].now);
	}
	read_stacks_close(&f->stacks);
	read_api_leave(f->process);
	free(f->thread);
	free(f->row);
	free(f);
}
