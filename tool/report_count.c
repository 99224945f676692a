/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/report_count.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"
#include "tool/trace_counts.h"
#include "tool/trace_stream.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define PAGE_MASK   ((1u << COUNT_PAGE_BITS) - 1)
#define SCALE_SHIFT 4		/* the unit is ns/16 then */
#define DEPTH_MAX   (1u << 24) /* calls deeper than that have no time; no stack is so deep */

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
		/* The name of a thread is no part of what it is. */
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
static uint32_t row_of_function(struct counter *c, const struct function *function, uint32_t id)
{
	struct process *process = c->process;
	char buf[320];
	const char *library = object_path(function ? process_object(process, function->object) : NULL);
	const char *name = c->by == COUNT_BY_FUNCTION ? function_name(process, function, buf, sizeof(buf)) : NULL;
	uint32_t row = find_row(c, name, library, 0, 0);

	if (function) {
		uint32_t **page = &c->page[id >> COUNT_PAGE_BITS];
		if (!*page)
			*page = memory_zeroed(1u << COUNT_PAGE_BITS, sizeof(**page));
		(*page)[id & PAGE_MASK] = row;
	}
	return row;
}

/* First event of a function in this process. */
static __attribute__((noinline)) uint32_t row_of_new_id(struct counter *c, const struct stream *s, size_t at, uint32_t id)
{
	struct process *process = c->process;
	const struct function *function = process_function_now(process, id);

	if (!function && !process->head.meta_lost)
		stream_damage(s, at, "an event of a function that meta does not name");
	return row_of_function(c, function, id);
}

static inline __attribute__((always_inline)) uint32_t row_of(struct counter *c, const struct stream *s, size_t at, uint32_t id)
{
	if (c->by == COUNT_BY_THREAD)
		return c->thread_row;
	const uint32_t *page = c->page[id >> COUNT_PAGE_BITS];
	uint32_t row = likely(page) ? page[id & PAGE_MASK] : 0;
	return likely(row) ? row : row_of_new_id(c, s, at, id);
}

/* ---- frames ---- */

static inline __attribute__((always_inline)) struct count_frame *frame_at(struct counter *c, uint64_t offset)
{
	return (struct count_frame *)(void *)((char *)c->frame + offset);
}

static inline __attribute__((always_inline)) struct count_frame *end_top(struct counter *c, struct count_frame *top, uint64_t now)
{
	const struct count_frame *ended = top;
	struct count_row *row = &c->row[top->row];
	uint64_t time = now - top->start, self;

	if (unlikely(c->scale))
		time = (uint64_t)((unsigned __int128)time * c->process->clock.mult >> (CLOCK_SHIFT - SCALE_SHIFT));
	self = time - top->child;
	top--;
	top->child += time;
	row->self += self;
	row->sum += time;
	row->min = time < row->min ? time : row->min;
	row->max = time > row->max ? time : row->max;
	row->frame = ended->outer;
	if (ended->outer)
		frame_at(c, ended->outer)->inner += time;
	else
		row->total += time;
	histogram_add(&row->time, time);
	return top;
}

/* Leaves the top frame, whose time is not known. What is known of calls in it counts for those further out. */
static struct count_frame *leave_top(struct counter *c, struct count_frame *top)
{
	struct count_row *row = &c->row[top->row];

	row->frame = top->outer;
	*(top->outer ? &frame_at(c, top->outer)->inner : &row->total) += top->inner;
	top[-1].child += top->child;
	return top - 1;
}

/* Ends the top frame where it has no end of its own: its time is known unless recording ended in it. */
static struct count_frame *end_for_want(struct counter *c, struct count_frame *top, uint64_t now)
{
	uint32_t low = 0, high = c->cuts;

	while (low < high) { /* the first behind its start */
		uint32_t middle = low + (high - low) / 2;
		if (c->cut[middle] <= top->start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == c->cuts || c->cut[low] > now)
		return end_top(c, top, now);
	c->no_end++;
	return leave_top(c, top);
}

/* An end that is not the top frame's. */
static void end_other(struct counter *c, const struct stream *s, size_t at, uint32_t type, uint32_t id)
{
	struct count_frame *frame;

	uint32_t row = row_of(c, s, at, id); /* may move the rows */
	if (c->row[row].frame)
		for (frame = c->top; frame > c->frame; frame--)
			if (frame->id == id) {
				while (c->top > frame)
					c->top = end_for_want(c, c->top, c->now);
				c->top = type == TRACE_UNWIND ? end_for_want(c, frame, c->now) : end_top(c, frame, c->now);
				return;
			}
	c->orphans++;
}

static void grow_frames(struct counter *c)
{
	size_t depth = (size_t)(c->top - c->frame), room = (size_t)(c->limit - c->frame) * 2;

	c->frame = memory_resize(c->frame, room, sizeof(*c->frame));
	c->top = c->frame + depth;
	c->limit = c->frame + room;
}

/* The thread has no more events, or some are missing here. */
static void drop_frames(struct counter *c)
{
	while (c->top > c->frame) {
		c->top = leave_top(c, c->top);
		c->unfinished++;
	}
	c->top->child = 0;
}

static void begin_thread(struct counter *c, uint32_t tid)
{
	drop_frames(c);
	c->tid = tid;
	if (c->by == COUNT_BY_THREAD)
		c->thread_row = find_row(c, NULL, NULL, c->process->head.pid, tid);
}

/* ---- events ---- */

/* Everything that is neither an entry nor the exit of the top frame: the word at s->at. Returns false for more words. */
static __attribute__((noinline)) bool count_rare(struct counter *c, struct stream *s)
{
	uint64_t event = s->words[s->at];
	uint32_t word = (uint32_t)(event >> 32), type = word >> TRACE_ID_BITS, id = word & TRACE_ID_MASK;
	uint32_t tid = c->tid;

	switch (type) {
	case TRACE_HOLE:
		break;
	case TRACE_CONTROL:
		switch (stream_control(s, &c->time, &tid)) {
		case STREAM_CONTROL_MORE:
			return false;
		case STREAM_CONTROL_THREAD:
			begin_thread(c, tid);
			return true;
		case STREAM_CONTROL_CRASH:
			c->crashes++;
			c->signal = s->signal;
			return true;
		case STREAM_CONTROL_CUSTOM:
			event_count(&c->events, c->process, s->custom.type, s->custom.size);
			return true;
		case STREAM_CONTROL_NOTHING:
			return true;
		}
		break;
	case TRACE_EXIT:
	case TRACE_TAIL:
	case TRACE_UNWIND:
	case TRACE_POINT:
		c->time = stream_time(c->time, event);
		c->now = c->time > c->now ? c->time : c->now;
		if (type == TRACE_POINT) {
			uint32_t row = row_of(c, s, s->at, id);
			c->row[row].calls++;
			c->points++;
		} else if (c->top > c->frame && c->top->id == id) {
			c->top = type == TRACE_UNWIND ? end_for_want(c, c->top, c->now) : end_top(c, c->top, c->now);
		} else {
			end_other(c, s, s->at, type, id);
		}
		break;
	default:
		stream_damage(s, s->at, "an event of unknown type");
	}
	s->at++;
	return true;
}

/* Takes the words of the block, all or up to a control word that needs more. */
static void count_words(struct counter *c, struct stream *s)
{
	const uint64_t *words = s->words;
	uint64_t time = c->time, now = c->now;
	struct count_frame *top = c->top;
	size_t at = s->at, have = s->have;

	while (at < have) {
		uint64_t event = words[at];
		uint32_t word = (uint32_t)(event >> 32), type = word >> TRACE_ID_BITS, id = word & TRACE_ID_MASK;

		if (type == TRACE_ENTRY) {
			uint32_t row = row_of(c, s, at, id);
			c->row[row].calls++;
			time = stream_time(time, event);
			now = time > now ? time : now;
			if (unlikely(top + 1 == c->limit)) {
				if ((size_t)(c->limit - c->frame) >= DEPTH_MAX) {
					c->unfinished++;
					at++;
					continue;
				}
				c->top = top;
				grow_frames(c);
				top = c->top;
			}
			*++top = (struct count_frame){
				.start = now, .id = id, .row = row, .outer = c->row[row].frame
			};
			c->row[row].frame = (uint64_t)((char *)top - (char *)c->frame);
			at++;
		} else if (likely(type == TRACE_EXIT && top->id == id)) {
			time = stream_time(time, event);
			now = time > now ? time : now;
			top = end_top(c, top, now);
			at++;
		} else if (!event) {
			at++;
		} else {
			s->at = at;
			c->time = time;
			c->now = now;
			c->top = top;
			if (!count_rare(c, s))
				return;
			time = c->time;
			now = c->now;
			top = c->top;
			at = s->at;
			have = s->have;
		}
	}
	s->at = at;
	c->time = time;
	c->now = now;
	c->top = top;
}

static void count_stream(struct counter *c, struct stream *s)
{
	enum stream_step step;
	bool begun = false;

	while ((step = stream_step(s)) != STREAM_END) {
		switch (step) {
		case STREAM_CHUNK:
			if (!begun || s->head.tid != c->tid)
				begin_thread(c, s->head.tid);
			else if (s->gap)
				drop_frames(c);
			if (!begun)
				c->now = s->head.clock;
			begun = true;
			if (c->by == COUNT_BY_THREAD && !c->row[c->thread_row].name && s->head.comm[0])
				c->row[c->thread_row].name = memory_text(s->head.comm, sizeof(s->head.comm));
			c->time = s->head.clock;
			break;
		case STREAM_WORDS:
			count_words(c, s);
			break;
		case STREAM_FINISH:
			c->lost += s->head.lost;
			if (s->head.lost)
				drop_frames(c);
			break;
		case STREAM_END:
			break;
		}
	}
	drop_frames(c);
}

/* ---- counters ---- */

static uint32_t row_of_counter(struct counter *c, const struct counts *counts)
{
	if (c->by == COUNT_BY_THREAD)
		return c->thread_row;
	const uint32_t *page = c->page[counts->id >> COUNT_PAGE_BITS];
	if (page && page[counts->id & PAGE_MASK])
		return page[counts->id & PAGE_MASK];
	const struct function *function = process_function_now(c->process, counts->id);
	if (!function && !c->process->head.meta_lost)
		counts_damage(counts, "calls of a function that meta does not name");
	return row_of_function(c, function, counts->id);
}

static void count_counters(struct counter *c, unsigned number)
{
	static struct counts counts;

	if (!counts_open(&counts, c->process, number))
		return;
	if (c->by == COUNT_BY_THREAD) {
		c->thread_row = find_row(c, NULL, NULL, c->process->head.pid, counts.head.tid);
		if (!c->row[c->thread_row].name && counts.head.comm[0])
			c->row[c->thread_row].name = memory_text(counts.head.comm, sizeof(counts.head.comm));
	}
	while (counts_next(&counts)) {
		uint32_t n = row_of_counter(c, &counts); /* may move the rows */
		struct count_row *row = &c->row[n];
		row->calls += counts.calls;
		row->counted += counts.calls;
		c->counted += counts.calls;
	}
	counts_close(&counts);
}

/* ---- changes ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void find_cuts(struct counter *c)
{
	const struct process *process = c->process;

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
	const struct process *process = c->process;

	for (uint32_t i = 0; c->by == COUNT_BY_FUNCTION && i < process->changes; i++) {
		const struct change *change = &process->change[i];
		const struct function *function = change->value <= TRACE_ID_MASK ? process_function(process, (uint32_t)change->value) :
										   NULL;
		if (change->what != TRACE_CHANGE_THROTTLED || !function)
			continue;
		uint32_t n = row_of_function(c, function, function->id); /* may move the rows */
		struct count_row *row = &c->row[n];
		if (row->throttled)
			continue;
		uint64_t start = process->head.first.ticks;
		row->throttled = clock_time(&process->clock, change->clock);
		row->throttled_after = change->clock > start ? clock_span(&process->clock, change->clock - start) : 0;
	}
}

static void count_process(struct counter *c, struct process *process)
{
	struct stream s;

	process_load(process);
	c->process = process;
	c->page = memory_zeroed(COUNT_PAGES, sizeof(*c->page));
	find_cuts(c);
	for (unsigned i = 0; i < process->threads; i++) {
		if (process->files[i] & (FILE_EVENTS | FILE_RING) && stream_open(&s, process, i, STREAM_BLOCK)) {
			count_stream(c, &s);
			c->overwritten += s.overwritten;
			c->events.unfinished += s.unfinished;
			stream_close(&s);
		}
		if (process->files[i] & FILE_COUNTS)
			count_counters(c, i);
	}
	mark_throttled(c);
	event_count_process_ends(&c->events);
	c->lost += process->head.lost;
	for (uint32_t i = 0; i < COUNT_PAGES; i++)
		free(c->page[i]);
	free(c->page);
	free(c->cut);
	process_unload(process);
}

void count_folder(struct counter *c, struct folder *folder, enum count_by by)
{
	*c = (struct counter){ .by = by, .rows = 1, .room = 64, .unit = folder->process[0]->clock };
	for (unsigned i = 1; i < folder->processes; i++)
		c->scale |= !clock_same_rate(&c->unit, &folder->process[i]->clock);
	if (c->scale)
		c->unit.mult = 1ull << (CLOCK_SHIFT - SCALE_SHIFT);
	c->row = memory_zeroed(c->room, sizeof(*c->row));
	rehash(c);
	c->frame = memory_zeroed(1024, sizeof(*c->frame));
	c->limit = c->frame + 1024;
	c->top = c->frame;
	c->frame->id = UINT32_MAX; /* the sentinel: no event has this id */
	for (unsigned i = 0; i < folder->processes; i++)
		count_process(c, folder->process[i]);
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
	free(c->frame);
	event_count_free(&c->events);
}
