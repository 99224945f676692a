/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report_count.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"
#include "tool/read/counts.h"

#define likely(x)   read_likely(x)
#define unlikely(x) read_unlikely(x)

#define PAGE_MASK   ((1u << COUNT_PAGE_BITS) - 1)
#define SCALE_SHIFT 4		/* the unit is ns/16 then */
#define TURNS_BLOCK (32u << 10) /* bytes per record: there may be thousands */

/* ---- rows ---- */

static uint32_t hash_row(const char *name, const char *library, uint32_t pid, uint32_t tid)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; name && *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	h *= 0x100000001b3u;
	for (; library && *library; library++)
		h = (h ^ (unsigned char)*library) * 0x100000001b3u;
	h = (h ^ pid) * 0x100000001b3u;
	h = (h ^ tid) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void rehash(struct counter *c)
{
	c->hash_mask = c->room * 2 - 1;
	free(c->hash);
	c->hash = memory_zeroed((size_t)c->hash_mask + 1, sizeof(*c->hash));
	for (uint32_t i = 1; i < c->rows; i++) {
		struct count_row *row = &c->row[i];
		/* A thread is told by pid and tid: its name may change. */
		uint32_t h = hash_row(c->by == COUNT_BY_THREAD ? NULL : row->name, row->library, row->pid, row->tid);
		row->next = c->hash[h & c->hash_mask];
		c->hash[h & c->hash_mask] = i;
	}
}

/* The row of a function (name, library), a library (NULL, library) or a thread (NULL, NULL, pid, tid). */
static uint32_t find_row(struct counter *c, const char *name, const char *library, uint32_t pid, uint32_t tid)
{
	uint32_t h = hash_row(name, library, pid, tid), i;

	for (i = c->hash[h & c->hash_mask]; i; i = c->row[i].next) {
		struct count_row *row = &c->row[i];
		if (row->pid == pid && row->tid == tid && same(row->library, library) &&
			(c->by == COUNT_BY_THREAD || same(row->name, name)))
			return i;
	}
	if (c->rows == c->room) {
		c->room *= 2;
		c->row = memory_resize(c->row, c->room, sizeof(*c->row));
		rehash(c);
	}
	i = c->rows++;
	c->row[i] = (struct count_row){
		.min = UINT64_MAX,
		.name = name ? memory_text(name, strlen(name)) : NULL,
		.library = library ? memory_text(library, strlen(library)) : NULL,
		.pid = pid,
		.tid = tid,
		.next = c->hash[h & c->hash_mask],
	};
	c->hash[h & c->hash_mask] = i;
	return i;
}

/* The row of a function of this process, or of one that meta does not name; remembers it by its id. */
static uint32_t row_of_function(struct counter *c, const struct read_function *function, uint32_t id)
{
	struct read_process *process = c->process;
	char buf[320];
	const char *library = read_object_path(function ? read_process_object(process, function->object) : NULL);
	const char *name = c->by == COUNT_BY_FUNCTION ? read_function_name(process, function, buf, sizeof(buf)) : NULL;
	uint32_t row = find_row(c, name, library, 0, 0);

	if (function) {
		uint32_t **page = &c->page[id >> COUNT_PAGE_BITS];
		if (!*page)
			*page = memory_zeroed(1u << COUNT_PAGE_BITS, sizeof(**page));
		c->pages = c->pages > id >> COUNT_PAGE_BITS ? c->pages : (id >> COUNT_PAGE_BITS) + 1;
		(*page)[id & PAGE_MASK] = row;
	}
	return row;
}

/* A thread record that is being read. */
struct count_record {
	struct read_events source;
	bool by_turns; /* reading stops where its events come to another stack */
	bool over;
	uint64_t next; /* ticks: where it goes on */
	uint32_t thread_row;
	struct read_stack_calls *stack;
};

/* First event of a function in this process. */
static __attribute__((noinline)) uint32_t row_of_new_id(struct counter *c, size_t at, uint32_t id)
{
	struct read_process *process = c->process;
	const struct read_function *function = read_process_function_now(process, id);

	if (!function && !process->head.meta_lost)
		read_events_damage(&c->record->source, at, "an event of a function that meta does not name");
	return row_of_function(c, function, id);
}

READ_INLINE uint32_t row_of(struct counter *c, size_t at, uint32_t id)
{
	if (c->by == COUNT_BY_THREAD)
		return c->record->thread_row;
	const uint32_t *page = c->page[id >> COUNT_PAGE_BITS];
	uint32_t row = likely(page) ? page[id & PAGE_MASK] : 0;
	return likely(row) ? row : row_of_new_id(c, at, id);
}

/* ---- calls ---- */

READ_INLINE struct read_call *call_at(struct counter *c, uint64_t offset)
{
	return (struct read_call *)(void *)((char *)c->calls.frame + offset);
}

READ_INLINE void enter(void *user, struct read_call *call, size_t at)
{
	struct counter *c = user;
	uint32_t row = row_of(c, at, call->id); /* may move the rows */

	c->row[row].calls++;
	call->row = row;
	call->child = call->inner = 0;
	call->outer = c->row[row].frame;
	c->row[row].frame = (uint64_t)((char *)call - (char *)c->calls.frame);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct counter *c = user;
	uint32_t row = row_of(c, at, id);

	if (c->calls.no_memory)
		memory_failed();
	c->row[row].calls++;
	c->unfinished++;
}

READ_INLINE void end_timed(struct counter *c, struct read_call *call, uint64_t now)
{
	struct count_row *row = &c->row[call->row];
	uint64_t time = now - call->start;

	if (unlikely(c->scale))
		time = (uint64_t)((unsigned __int128)time * c->process->clock.mult >> (READ_CLOCK_SHIFT - SCALE_SHIFT));
	call[-1].child += time;
	row->self += time - call->child;
	row->sum += time;
	row->min = time < row->min ? time : row->min;
	row->max = time > row->max ? time : row->max;
	row->frame = call->outer;
	if (call->outer)
		call_at(c, call->outer)->inner += time;
	else
		row->total += time;
	histogram_add(&row->time, time);
}

/* Drops a call whose time is not known. The times of calls in it count for the calls further out. */
static void end_untimed(struct counter *c, struct read_call *call)
{
	struct count_row *row = &c->row[call->row];

	row->frame = call->outer;
	*(call->outer ? &call_at(c, call->outer)->inner : &row->total) += call->inner;
	call[-1].child += call->child;
}

/* Ends a call that has no end of its own: its time is known unless recording ended in it. */
static __attribute__((noinline)) void end_for_want(struct counter *c, struct read_call *call, uint64_t now)
{
	uint32_t low = 0, high = c->cuts;

	while (low < high) { /* the first cut after its start */
		uint32_t middle = low + (high - low) / 2;
		if (c->cut[middle] <= call->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == c->cuts || c->cut[low] > now) {
		end_timed(c, call, now);
		return;
	}
	c->no_end++;
	end_untimed(c, call);
}

READ_INLINE void end(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	if (how == READ_CALL_UNWOUND || how == READ_CALL_CUT)
		end_for_want(user, call, now);
	else
		end_timed(user, call, now);
}

static void drop(void *user, struct read_call *call)
{
	struct counter *c = user;

	end_untimed(c, call);
	c->unfinished++;
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct counter *c = user;
	uint32_t row = row_of(c, at, id); /* may move the rows */

	(void)now;
	c->row[row].calls++;
	c->points++;
}

static bool may_be_open(void *user, uint32_t id, size_t at)
{
	struct counter *c = user;
	uint32_t row = row_of(c, at, id); /* may move the rows */

	return c->row[row].frame != 0;
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct counter *c = user;

	(void)id;
	(void)now;
	if (read_process_is_forked(c->process) && !read_calls_depth(&c->calls))
		c->inherited++;
	else
		c->orphans++;
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .drop = drop, .point = point, .orphan = orphan,
	.may_be_open = may_be_open,
};

/* ---- stacks ---- */

/* From here on c->calls holds the calls of this stack. */
static void take_up(struct counter *c, struct read_stack_calls *stack)
{
	c->stack = c->record->stack = stack;
	c->calls = stack->calls;
	for (struct read_call *call = c->calls.frame + 1; call <= c->calls.top; call++) {
		call->outer = c->row[call->row].frame;
		c->row[call->row].frame = (uint64_t)((char *)call - (char *)c->calls.frame);
	}
}

/* From here on c->calls holds the calls of no stack. */
static void lay_down(struct counter *c)
{
	for (struct read_call *call = c->calls.frame + 1; call <= c->calls.top; call++)
		c->row[call->row].frame = 0;
	c->stack->calls = c->calls;
	c->stack = NULL;
}

/* The calls that are open on the stack have no end. */
static void drop_stack(void *user, struct read_stack_calls *stack)
{
	struct counter *c = user;

	take_up(c, stack);
	read_calls_drop(&c->calls, &hooks, c);
	c->calls.frame->child = 0;
	lay_down(c);
}

/* The record has no more events, or some are missing here. c->calls holds the calls of no stack. */
static void drop_calls(struct counter *c)
{
	struct read_stack_calls *stack = c->record->stack;

	read_stacks_each(&c->stacks, c->record, drop_stack, c);
	c->record->stack = stack;
}

/* Does what the record's words about stacks, or about missing events, say. */
static void change_stack(struct counter *c, enum read_decoded what)
{
	struct count_record *record = c->record;
	const struct read_decoder *d = &record->source.decoder;
	struct read_stack_calls *stack = c->stack;

	lay_down(c);
	if (what == READ_DECODED_THREAD && !stack->number) /* on other stacks another thread may go on */
		drop_stack(c, stack);
	if (what == READ_DECODED_PART) {
		stack = memory_need(read_stacks_part(&c->stacks, stack, d->stack, d->kept, record));
	} else if (what == READ_DECODED_THREAD || what == READ_DECODED_STACK) {
		read_stacks_leave(&c->stacks, stack);
		stack = memory_need(read_stacks_enter(&c->stacks, d->stack, record));
	} else {
		drop_calls(c);
	}
	take_up(c, stack);
}

/* ---- events ---- */

/* Values that the loop keeps in registers. */
struct loop {
	struct counter *c;
	struct read_call *top;
};

READ_INLINE bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct loop *loop = user;

	(void)time;
	read_calls_event(&loop->c->calls, &loop->top, &hooks, loop->c, type, id, now, at);
	return false;
}

static __attribute__((noinline)) void count_other(struct counter *c, enum read_decoded what)
{
	const struct read_decoder *d = &c->record->source.decoder;
	const struct trace_chunk *head = &c->record->source.stream.chunk.head;

	switch (what) {
	case READ_DECODED_THREAD:
		change_stack(c, what);
		if (c->by == COUNT_BY_THREAD)
			c->record->thread_row = find_row(c, NULL, NULL, c->process->head.pid, d->tid);
		break;
	case READ_DECODED_CHUNK:
		if (c->by == COUNT_BY_THREAD && !c->row[c->record->thread_row].name && head->comm[0])
			c->row[c->record->thread_row].name = memory_text(head->comm, sizeof(head->comm));
		break;
	case READ_DECODED_GAP:
	case READ_DECODED_STACK:
	case READ_DECODED_PART:
		change_stack(c, what);
		break;
	case READ_DECODED_LOST:
		if (head->version == 1)
			c->lost += head->lost;
		change_stack(c, what);
		break;
	case READ_DECODED_CRASH:
		c->crashes++;
		c->signal = d->signal;
		break;
	case READ_DECODED_CUSTOM:
		event_count(&c->events, c->process, d->custom.type, d->custom.size);
		break;
	case READ_DECODED_NOTHING:
	case READ_DECODED_MORE:
		break;
	}
}

READ_INLINE bool take_other(void *user, enum read_decoded what)
{
	struct loop *loop = user;

	loop->c->calls.top = loop->top;
	count_other(loop->c, what);
	loop->top = loop->c->calls.top;
	return what == READ_DECODED_STACK && loop->c->record->by_turns;
}

/*
 * Counts events from where reading stopped, to the record's end or, by turns, to where its events come to another
 * stack.
 */
static void count_events(struct counter *c, struct count_record *record)
{
	c->record = record;
	take_up(c, record->stack);
	struct loop loop = { c, c->calls.top };
	record->over = !read_events_all(&record->source, take_event, take_other, &loop);
	record->next = record->source.decoder.now;
	c->calls.top = loop.top;
	lay_down(c);
}

static bool open_record(struct counter *c, struct count_record *record, unsigned number, bool by_turns)
{
	*record = (struct count_record){ .by_turns = by_turns };
	if (!(c->process->files[number] & (READ_FILE_EVENTS | READ_FILE_RING)) ||
		!read_events_open(&record->source, c->process, number, by_turns ? TURNS_BLOCK : READ_STREAM_BLOCK))
		return false;
	record->stack = memory_need(read_stacks_enter(&c->stacks, 0, record));
	return true;
}

static void close_record(struct counter *c, struct count_record *record)
{
	c->record = record;
	drop_calls(c);
	read_stacks_leave(&c->stacks, record->stack);
	c->overwritten += record->source.stream.chunks.overwritten;
	c->events.unfinished += record->source.decoder.unfinished;
	read_events_close(&record->source);
}

/* Reads one record after another. */
static void count_records(struct counter *c)
{
	static struct count_record record;

	for (unsigned i = 0; i < c->process->threads; i++) {
		if (!open_record(c, &record, i, false))
			continue;
		count_events(c, &record);
		close_record(c, &record);
	}
}

/* The record whose next event is the earliest; NULL: all are at their end. */
static struct count_record *first_of(struct count_record *record, unsigned records)
{
	struct count_record *first = NULL;

	for (unsigned i = 0; i < records; i++)
		if (!record[i].over && (!first || record[i].next < first->next))
			first = &record[i];
	return first;
}

static void count_by_turns(struct counter *c)
{
	struct count_record *record = memory_zeroed(c->process->threads, sizeof(*record)), *first;
	unsigned records = 0;

	for (unsigned i = 0; i < c->process->threads; i++)
		records += open_record(c, &record[records], i, true);
	while ((first = first_of(record, records)))
		count_events(c, first);
	for (unsigned i = 0; i < records; i++)
		close_record(c, &record[i]);
	free(record);
}

/* ---- counters ---- */

static uint32_t row_of_counter(struct counter *c, const struct read_counts *counts, uint32_t thread_row)
{
	if (c->by == COUNT_BY_THREAD)
		return thread_row;
	const uint32_t *page = c->page[counts->id >> COUNT_PAGE_BITS];
	if (page && page[counts->id & PAGE_MASK])
		return page[counts->id & PAGE_MASK];
	const struct read_function *function = read_process_function_now(c->process, counts->id);
	if (!function && !c->process->head.meta_lost)
		read_counts_damage(counts, "calls of a function that meta does not name");
	return row_of_function(c, function, counts->id);
}

static void count_counters(struct counter *c, unsigned number)
{
	static struct read_counts counts;
	uint32_t thread_row = 0;

	if (!read_counts_open(&counts, c->process, number))
		return;
	if (c->by == COUNT_BY_THREAD) {
		thread_row = find_row(c, NULL, NULL, c->process->head.pid, counts.head.tid);
		if (!c->row[thread_row].name && counts.head.comm[0])
			c->row[thread_row].name = memory_text(counts.head.comm, sizeof(counts.head.comm));
	}
	while (read_counts_next(&counts)) {
		uint32_t n = row_of_counter(c, &counts, thread_row); /* may move the rows */
		struct count_row *row = &c->row[n];
		row->calls += counts.calls;
		row->counted += counts.calls;
		c->counted += counts.calls;
	}
	read_counts_close(&counts);
}

/* ---- changes ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void find_cuts(struct counter *c)
{
	const struct read_process *process = c->process;

	c->cut = memory_zeroed(process->changes + 1, sizeof(*c->cut));
	c->cuts = 0;
	for (uint32_t i = 0; i < process->changes; i++) {
		switch (process->change[i].what) {
		case TRACE_CHANGE_DISABLED:
		case TRACE_CHANGE_STOPPED:
		case TRACE_CHANGE_MODE:
		case TRACE_CHANGE_THROTTLED:
			c->cut[c->cuts++] = process->change[i].clock;
		}
	}
	qsort(c->cut, c->cuts, sizeof(*c->cut), by_value);
}

/* Marks the rows of functions that are only counted since some moment. */
static void mark_throttled(struct counter *c)
{
	const struct read_process *process = c->process;

	for (uint32_t i = 0; c->by == COUNT_BY_FUNCTION && i < process->changes; i++) {
		const struct read_change *change = &process->change[i];
		const struct read_function *function =
			change->value <= TRACE_ID_MASK ? read_process_function(process, (uint32_t)change->value) : NULL;
		if (change->what != TRACE_CHANGE_THROTTLED || !function)
			continue;
		uint32_t n = row_of_function(c, function, function->id); /* may move the rows */
		struct count_row *row = &c->row[n];
		if (row->throttled)
			continue;
		uint64_t start = process->head.first.ticks;
		row->throttled = read_clock_time(&process->clock, change->clock);
		row->throttled_after =
			change->clock > start ? read_clock_span(&process->clock, change->clock - start) : 0;
	}
}

static void count_process(struct counter *c, struct read_process *process)
{
	read_process_load(process);
	c->process = process;
	find_cuts(c);
	if (process->head.moved && process->threads > 1)
		count_by_turns(c);
	else
		count_records(c);
	read_stacks_close(&c->stacks);
	for (unsigned i = 0; i < process->threads; i++)
		if (process->files[i] & READ_FILE_COUNTS)
			count_counters(c, i);
	mark_throttled(c);
	event_count_process_ends(&c->events);
	c->lost += process->head.lost;
	for (; c->pages; c->pages--) {
		free(c->page[c->pages - 1]);
		c->page[c->pages - 1] = NULL;
	}
	free(c->cut);
	read_process_unload(process);
}

void count_folder(struct counter *c, struct read_folder *folder, enum count_by by)
{
	*c = (struct counter){ .by = by, .rows = 1, .room = 64, .unit = folder->process[0]->clock };
	for (unsigned i = 1; i < folder->processes; i++)
		c->scale |= !read_clock_same_rate(&c->unit, &folder->process[i]->clock);
	if (c->scale)
		c->unit.mult = 1ull << (READ_CLOCK_SHIFT - SCALE_SHIFT);
	c->row = memory_zeroed(c->room, sizeof(*c->row));
	rehash(c);
	c->page = memory_zeroed(COUNT_PAGES, sizeof(*c->page));
	for (unsigned i = 0; i < folder->processes; i++)
		count_process(c, folder->process[i]);
	free(c->page);
	event_count_sort(&c->events);
}

void count_free(struct counter *c)
{
	for (uint32_t i = 1; i < c->rows; i++) {
		histogram_free(&c->row[i].time);
		free(c->row[i].name);
		free(c->row[i].library);
	}
	free(c->row);
	free(c->hash);
	event_count_free(&c->events);
}
