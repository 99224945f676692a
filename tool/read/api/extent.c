/* SPDX-License-Identifier: MIT */
/*
 * How far a trace goes: whether it knows of a thread, or of a moment, and whether it has what another one has. What is
 * damaged is not noted: who reads the trace comes to it, too.
 */
#include <stdlib.h>
#include <string.h>

#include "tool/read/api/api.h"
#include "tool/read/api/threads.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/counts.h"
#include "tool/read/events/events.h"
#include "tool/read/meta.h"

/* What is looked for. */
struct search {
	struct xaudit_read_process *process;
	struct read_events *source;
	uint32_t tid;
	bool found; /* there is such a thread, or such a moment */
	bool tail;	 /* only the last chunk of each thread record counts */
	uint64_t enough; /* ns */
	uint64_t ticks, last; /* the latest moment, of the record; and of all, in ns */
};

static void look_at_ticks(struct search *s, uint64_t ticks)
{
	uint64_t time = ticks ? read_clock_time(&s->process->read->clock, ticks) : 0;

	s->last = time > s->last ? time : s->last;
	s->found |= s->last >= s->enough;
}

/* ---- threads ---- */

READ_INLINE bool pass_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	(void)user;
	(void)type;
	(void)id;
	(void)time;
	(void)now;
	(void)at;
	return false;
}

READ_INLINE bool take_thread(void *user, enum read_decoded what)
{
	static const char no_name[READ_API_COMM];
	struct search *s = user;
	uint32_t tid = s->source->decoder.tid;
	const struct trace_chunk *head = &s->source->stream.chunk.head;

	if (what == READ_DECODED_THREAD || what == READ_DECODED_CHUNK) {
		read_api_thread(s->process, tid, head->tid == tid ? head->comm : no_name);
		s->found |= tid == s->tid;
	}
	return s->found;
}

static void look_at_heads(struct search *s, unsigned number)
{
	struct read_process *process = s->process->read;
	struct read_chunks chunks;
	struct read_chunk chunk;

	if (!read_chunks_open(&chunks, process, number))
		return;
	while (!s->found && read_chunks_next(&chunks, &chunk))
		s->found = chunk.head.tid == s->tid;
	read_chunks_close(&chunks);
}

static void look_at_counts(struct search *s, unsigned number)
{
	struct read_process *process = s->process->read;
	struct read_counts *counts = read_memory_zeroed(process->family->damage, 1, sizeof(*counts));

	if (counts && read_counts_open(counts, process, number)) {
		while (!s->found && read_counts_next(counts))
			s->found = counts->head.tid == s->tid;
		read_counts_close(counts);
	}
	free(counts);
}

static void look_at_words(struct search *s, unsigned number)
{
	struct read_events source;

	if (!read_events_open(&source, s->process->read, number, READ_STREAM_BLOCK))
		return;
	s->source = &source;
	read_events_all(&source, pass_event, take_thread, s);
	read_events_close(&source);
}

/* ---- times ---- */

READ_INLINE bool take_time(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct search *s = user;

	(void)type;
	(void)id;
	(void)time;
	(void)at;
	s->ticks = now;
	return false;
}

READ_INLINE bool take_tail(void *user, enum read_decoded what)
{
	struct search *s = user;

	if (what == READ_DECODED_CHUNK && read_chunks_more(&s->source->stream.chunks))
		read_events_skip_chunk(s->source);
	if (what == READ_DECODED_CHUNK || what == READ_DECODED_CUSTOM || what == READ_DECODED_PROBE)
		s->ticks = s->source->decoder.now;
	return false;
}

static void look_at_tail(struct search *s, unsigned number)
{
	struct read_events source;

	if (!read_events_open(&source, s->process->read, number, READ_STREAM_BLOCK))
		return;
	s->source = &source;
	s->ticks = 0;
	read_events_all(&source, take_time, take_tail, s);
	look_at_ticks(s, s->ticks);
	read_events_close(&source);
}

/* ---- records of the process ---- */

/* Loads, unloads and changes have a thread and a moment. */
static void look_at_record(struct search *s, const struct trace_record *record)
{
	const struct trace_load *load = (const void *)record;
	const struct trace_unload *unload = (const void *)record;
	const struct trace_change *change = (const void *)record;
	uint64_t clock = 0;
	uint32_t tid = 0;

	if (record->type == TRACE_REC_LOAD && record->size >= sizeof(*load)) {
		tid = load->tid;
		clock = load->clock;
	} else if (record->type == TRACE_REC_UNLOAD && record->size >= sizeof(*unload)) {
		tid = unload->tid;
		clock = unload->clock;
	} else if (record->type == TRACE_REC_CHANGE && record->size >= sizeof(*change)) {
		tid = change->tid;
		clock = change->clock;
	}
	s->found |= s->tid && tid == s->tid;
	if (!s->tid)
		look_at_ticks(s, clock);
}

static void look_at_records(struct search *s)
{
	const struct trace_record *record;
	struct read_meta meta;

	read_meta_begin(&meta, s->process->read, 0);
	while (!s->found && (record = read_meta_next(&meta, false)))
		look_at_record(s, record);
	read_meta_end(&meta);
}

/* ---- all ---- */

static void each_record(struct search *s, uint8_t files, void (*look)(struct search *s, unsigned number))
{
	struct read_process *process = s->process->read;

	for (unsigned i = 0; i < process->threads && !s->found; i++)
		if (process->files[i] & files)
			look(s, i);
}

/* Looks at one thing of all processes, before the next one. */
static void each_process(struct search *s, struct xaudit_read_trace *trace, uint8_t files,
	void (*look)(struct search *s, unsigned number))
{
	struct read_damage *damage = &trace->folder->damage, before = *damage;

	*damage = (struct read_damage){ .no_memory = before.no_memory };
	for (uint32_t i = 0; i < trace->info.processes && !s->found; i++) {
		s->process = &trace->process[i];
		if (look)
			each_record(s, files, look);
		else
			look_at_records(s);
	}
	before.no_memory |= damage->no_memory;
	read_damage_free(damage);
	*damage = before;
}

int xaudit_read_has_thread(struct xaudit_read_trace *trace, uint32_t tid)
{
	const uint8_t events = READ_FILE_EVENTS | READ_FILE_PLACES;
	struct search s = { .tid = tid, .enough = UINT64_MAX };

	/* What is quick first: most threads have a chunk of their own. */
	each_process(&s, trace, events, look_at_heads);
	each_process(&s, trace, READ_FILE_COUNTS, look_at_counts);
	each_process(&s, trace, 0, NULL);
	each_process(&s, trace, events, look_at_words);
	return s.found;
}

uint64_t xaudit_read_last(struct xaudit_read_trace *trace, uint64_t enough)
{
	struct search s = { .enough = enough };

	for (uint32_t i = 0; i < trace->info.processes; i++) {
		const struct read_process *process = trace->process[i].read;
		s.process = &trace->process[i];
		s.last = process->head.first.mono > s.last ? process->head.first.mono : s.last;
		look_at_ticks(&s, process->head.last.ticks);
	}
	each_process(&s, trace, READ_FILE_EVENTS | READ_FILE_PLACES, look_at_tail);
	each_process(&s, trace, 0, NULL);
	return s.last;
}

/* ---- two traces ---- */

/* Was the one made of the same files, or of copies of them? Only a process of one boot is told from all others. */
static bool is_same(const struct read_process *a, const struct read_process *b)
{
	const struct trace_head *x = &a->head, *y = &b->head;

	if (a->place != b->place || x->pid != y->pid || x->first.ticks != y->first.ticks ||
		strcmp(x->boot_id, y->boot_id))
		return false;
	if (read_file_same(a->family->meta, b->family->meta))
		return true;
	/* Of a copy that was made while it ran, such as a snapshot, the rest differs. */
	return *x->boot_id && x->used == y->used && x->lost == y->lost && x->stream_bytes == y->stream_bytes &&
	       x->threads == y->threads && x->last.ticks == y->last.ticks;
}

static uint64_t start_of(const struct xaudit_read_trace *trace, uint32_t number)
{
	return trace->process[number].read->head.first.mono;
}

int xaudit_read_is_part(const struct xaudit_read_trace *part, const struct xaudit_read_trace *whole)
{
	uint32_t at = 0;

	/* Both are in the order of their start. */
	for (uint32_t i = 0; i < part->info.processes; i++) {
		uint64_t start = start_of(part, i);
		bool found = false;

		while (at < whole->info.processes && start_of(whole, at) < start)
			at++;
		for (uint32_t k = at; k < whole->info.processes && start_of(whole, k) == start && !found; k++)
			found = is_same(part->process[i].read, whole->process[k].read);
		if (!found)
			return 0;
	}
	return 1;
}
