/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/loop.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"
#include "tool/read/profile/fast.h"
#include "tool/read/sched/sched_cursor.h"
#include "tool/read/shown_names.h"

#define likely(x)   read_likely(x)
#define unlikely(x) read_unlikely(x)

#define PAGE_MASK   ((1u << READ_COUNT_PAGE_BITS) - 1)

/* ---- rows ---- */

uint32_t read_count_row_of_function(struct read_count *c, const struct read_function *function, uint32_t id)
{
	struct read_process *process = c->process;
	char buf[320];
	uint32_t row, **page = &c->page[id >> READ_COUNT_PAGE_BITS];
	struct read_row_key key = {
		.library = read_object_path(function ? read_process_object(process, function->object) : NULL),
		.trace = c->setup->apart ? c->trace : 0,
		.pid = c->setup->apart ? process->head.pid : 0,
	};

	if (c->setup->by == XAUDIT_READ_BY_FUNCTION)
		key.name = read_function_name(process, function, buf, sizeof(buf));
	row = read_rows_find(&c->rows, c->damage, &key);
	if (!function)
		return row;
	if (row && *function->aliases && key.name && !c->rows.row[row].aliases)
		c->rows.row[row].aliases = read_names_copy(c->damage, function->aliases);
	if (*page == c->no_page) {
		*page = read_memory_zeroed(c->damage, 1u << READ_COUNT_PAGE_BITS, sizeof(**page));
		if (!*page) {
			*page = c->no_page;
			return row;
		}
	}
	c->pages = c->pages > id >> READ_COUNT_PAGE_BITS ? c->pages : (id >> READ_COUNT_PAGE_BITS) + 1;
	return (*page)[id & PAGE_MASK] = row;
}

uint32_t read_count_row_of_thread(struct read_count *c, uint32_t tid, const char *name, size_t room, bool later)
{
	bool by_process = c->setup->by == XAUDIT_READ_BY_PROCESS;
	struct read_row_key key = {
		.trace = c->trace,
		.pid = c->process->head.pid,
		.tid = by_process ? 0 : tid,
		.process = by_process ? c->number : 0,
	};
	uint32_t n = read_rows_find(&c->rows, c->damage, &key);
	struct read_row *row = &c->rows.row[n];

	if (!n || !*name || by_process || (row->thread && !later))
		return n;
	uint32_t task = later ? c->task + 1 : 0;
	if (row->thread && row->thread_task == task && !strncmp(row->thread, name, room))
		return n;
	char *text = read_memory_text(c->damage, name, room);
	if (text) {
		free(row->thread);
		row->thread = text;
		row->thread_task = task;
	}
	return n;
}

/* First event of a function in this process. */
static __attribute__((noinline)) uint32_t row_of_new_id(struct read_count *c, size_t at, uint32_t id)
{
	struct read_process *process = c->process;
	const struct read_function *function = read_process_function_now(process, id);

	if (!function && !process->head.meta_lost)
		read_events_damage(&c->record->source, at, "an event of a function that meta does not name");
	return read_count_row_of_function(c, function, id);
}

READ_INLINE uint32_t row_of(struct read_count *c, size_t at, uint32_t id)
{
	if (read_count_is_by_thread(c))
		return c->record->thread_row;
	const uint32_t *page = c->page[id >> READ_COUNT_PAGE_BITS];
	uint32_t row = page[id & PAGE_MASK];
	return likely(row) ? row : row_of_new_id(c, at, id);
}

/* Is the moment before setup->to, if that is given? Where times are damaged, they may be as late as any. */
READ_INLINE bool is_before_end(const struct read_count *c, uint64_t now)
{
	return now < c->to || c->to == UINT64_MAX;
}

/* The same, or row[0] if a call that begins at this moment does not count. */
READ_INLINE uint32_t row_of_call(struct read_count *c, size_t at, uint32_t id, uint64_t now)
{
	uint32_t tid = c->setup->tid;

	if (unlikely(c->filtered) &&
		(now < c->from || !is_before_end(c, now) || (tid && tid != c->record->source.decoder.tid)))
		return 0;
	return row_of(c, at, id);
}

/* ---- calls ---- */

READ_INLINE struct read_call *call_at(struct read_count *c, uint64_t offset)
{
	return (struct read_call *)(void *)((char *)c->calls.frame + offset);
}

READ_INLINE uint32_t place_of(const struct read_count *c, const struct read_call *call)
{
	return (uint32_t)((const char *)call - (const char *)c->calls.frame);
}

/*
 * Hooks come twice: with times on processors, and without them and their cost. Only the trace decides which: `on` is a
 * constant wherever these are expanded.
 */
READ_INLINE void enter_with(struct read_count *c, struct read_call *call, size_t at, bool on)
{
	uint32_t n = row_of_call(c, at, call->id, call->start); /* may move the rows */

	read_count_chain((const char *)c->calls.frame, c->rows.open, call, n);
	if (on) {
		call->on = read_sched_stack_on(&c->record->on, call->start);
		call->on_child = 0;
		call->on_inner = 0;
	}
}

READ_INLINE void enter(void *user, struct read_call *call, size_t at)
{
	enter_with(user, call, at, false);
}

READ_INLINE void enter_on(void *user, struct read_call *call, size_t at)
{
	enter_with(user, call, at, true);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct read_count *c = user;
	uint32_t row = row_of_call(c, at, id, c->record->source.decoder.now); /* may move the rows */

	c->damage->no_memory |= c->calls.no_memory;
	c->rows.row[row].untimed++;
	c->sums.unfinished += row > 0;
}

__attribute__((noinline)) void read_count_max(struct read_count *c, uint32_t n, uint64_t time, uint64_t start)
{
	struct read_row *row = &c->rows.row[n];

	row->max = time;
	row->max_task = c->task;
	row->max_trace = c->trace;
	row->max_pid = c->process->head.pid;
	row->max_tid = c->record->source.decoder.tid;
	row->max_start = read_clock_time(&c->process->clock, start);
}

/* Units of a time in ticks. */
READ_INLINE uint64_t units(const struct read_count *c, uint64_t ticks)
{
	return unlikely(c->setup->scale) ? read_count_scale(c, ticks) : ticks;
}

/* What end_timed() does with times, for times on processors. */
READ_INLINE void add_on(struct read_count *c, struct read_call *call, struct read_row *row, uint64_t now)
{
	uint64_t on = units(c, read_sched_stack_on(&c->record->on, now) - call->on);

	/* Then it is not known of the calls around it either. */
	if (unlikely(read_sched_stack_unknown(&c->record->on) > call->start)) {
		row->on_unknown++;
		return;
	}
	call[-1].on_child += on;
	row->on_self += on > call->on_child ? on - call->on_child : 0;
	if (call->outer)
		call_at(c, call->outer)->on_inner += on;
	else
		row->on += on;
}

READ_INLINE void end_timed(struct read_count *c, struct read_call *call, uint64_t now, bool on)
{
	struct read_row *row = &c->rows.row[call->row];
	uint64_t time = units(c, now - call->start);

	if (on)
		add_on(c, call, row, now);
	call[-1].child += time;
	c->rows.open[call->row] = (uint32_t)call->outer;
	if (call->outer)
		read_count_recursive((char *)c->calls.frame, row, call->outer, time);
	if (read_count_call(c, row, time, time - call->child))
		read_count_max(c, call->row, time, call->start);
}

/* Drops a call whose time is not known. The times of calls in it count for the calls further out. */
static void end_untimed(struct read_count *c, struct read_call *call)
{
	struct read_row *row = &c->rows.row[call->row];

	row->untimed++;
	c->rows.open[call->row] = (uint32_t)call->outer;
	*(call->outer ? &call_at(c, call->outer)->inner : &row->given) += call->inner;
	call[-1].child += call->child;
	if (c->sched) {
		*(call->outer ? &call_at(c, call->outer)->on_inner : &row->on) += call->on_inner;
		call[-1].on_child += call->on_child;
	}
}

/* Ends a call that has no end of its own: its time is known unless recording ended in it. */
static __attribute__((noinline)) void end_for_want(struct read_count *c, struct read_call *call, uint64_t now)
{
	if (!read_stops_between(&c->stops, call->start, now)) {
		end_timed(c, call, now, c->sched != NULL);
		return;
	}
	c->sums.no_end += call->row > 0;
	end_untimed(c, call);
}

READ_INLINE void end(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	if (how == READ_CALL_UNWOUND || how == READ_CALL_CUT)
		end_for_want(user, call, now);
	else
		end_timed(user, call, now, false);
}

READ_INLINE void end_on(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	if (how == READ_CALL_UNWOUND || how == READ_CALL_CUT)
		end_for_want(user, call, now);
	else
		end_timed(user, call, now, true);
}

static void drop(void *user, struct read_call *call)
{
	struct read_count *c = user;

	c->sums.unfinished += call->row > 0;
	end_untimed(c, call);
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct read_count *c = user;
	uint32_t row = row_of_call(c, at, id, now); /* may move the rows */

	c->rows.row[row].untimed++;
	c->sums.points += row > 0;
}

static bool may_be_open(void *user, uint32_t id, size_t at)
{
	struct read_count *c = user;
	uint32_t row = row_of(c, at, id); /* may move the rows */

	return c->filtered || c->rows.open[row];
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct read_count *c = user;

	(void)id;
	(void)now;
	read_turns_orphan(c->process, &c->calls, &c->sums.inherited, &c->sums.orphans);
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .drop = drop, .point = point, .orphan = orphan,
	.may_be_open = may_be_open,
};

static const struct read_calls_hooks hooks_on = {
	.enter = enter_on, .deep = enter_deep, .end = end_on, .drop = drop, .point = point, .orphan = orphan,
	.may_be_open = may_be_open,
};

/* ---- stacks ---- */

/* From here on c->calls holds the calls of this stack. */
static void take_up(struct read_count *c, struct read_stack_calls *stack)
{
	c->stack = stack;
	read_turns_take_up(c->record, stack, &c->calls, c->sched);
	for (struct read_call *call = c->calls.frame + 1; call <= c->calls.top; call++) {
		call->outer = c->rows.open[call->row];
		c->rows.open[call->row] = place_of(c, call);
	}
}

/* From here on c->calls holds the calls of no stack. */
static void lay_down(struct read_count *c)
{
	for (struct read_call *call = c->calls.frame + 1; call <= c->calls.top; call++)
		c->rows.open[call->row] = 0;
	read_turns_lay_down(c->record, c->stack, &c->calls, c->sched);
	c->stack = NULL;
}

/* The calls that are open on the stack have no end. */
static void drop_stack(void *user, struct read_stack_calls *stack)
{
	struct read_count *c = user;

	take_up(c, stack);
	read_calls_drop(&c->calls, &hooks, c);
	lay_down(c);
}

/* The record has no more events, or some are missing here. c->calls holds the calls of no stack. */
static void drop_calls(struct read_count *c)
{
	struct read_stack_calls *stack = c->record->stack;

	read_stacks_each(&c->stacks, c->record, drop_stack, c);
	c->record->stack = stack;
}

void read_count_record_ends(struct read_count *c, struct read_turns_record *record)
{
	c->record = record;
	drop_calls(c);
}

/* Does what the record's words about stacks, or about missing events, say. */
static void change_stack(struct read_count *c, enum read_decoded what)
{
	struct read_turns_record *record = c->record;
	const struct read_decoder *d = &record->source.decoder;
	struct read_stack_calls *stack = c->stack, *other;

	lay_down(c);
	if (what == READ_DECODED_THREAD && c->sched)
		read_sched_begin(&record->on.cursor, c->sched, c->process, d->tid);
	if (what == READ_DECODED_THREAD && !stack->number) /* on other stacks another thread may go on */
		drop_stack(c, stack);
	if (what == READ_DECODED_PART) {
		other = read_stacks_part(
			&c->stacks, stack, d->stack, read_stacks_kept(stack, d->calls, d->outer), record);
		/* The calls that it gets count by the old stack's clock; what it had before is not known then. */
		if (other && other != stack) {
			other->unknown = other->on ? d->now : stack->unknown;
			other->on = stack->on;
		}
	} else if (what == READ_DECODED_THREAD || what == READ_DECODED_STACK) {
		other = read_stacks_enter(&c->stacks, d->stack, record);
		if (other)
			read_stacks_leave(&c->stacks, stack);
	} else {
		drop_calls(c);
		other = stack;
	}
	c->damage->no_memory |= !other;
	take_up(c, other ? other : stack);
}

/* ---- events ---- */

/* A part of a block that is taken word by word. */
struct loop {
	struct read_count *c;
	struct read_call *top;
	unsigned left; /* events of that part */
	bool stop;
};

READ_INLINE bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct loop *loop = user;

	(void)time;
	read_calls_event(&loop->c->calls, &loop->top, &hooks, loop->c, type, id, now, at);
	return --loop->left == 0;
}

/* Does an event count that is no call, at that moment of that thread? */
static bool counts_here(const struct read_count *c, uint64_t now, uint32_t tid)
{
	return !c->filtered ||
	       (now >= c->from && is_before_end(c, now) && (!c->setup->tid || c->setup->tid == tid));
}

static void count_probe(struct read_count *c, const struct read_decoder *d)
{
	bool valued = read_decode_values_at(d, d->probe.at);

	if (!read_probes_count(&c->probes, d->probe.id, d->now, valued) && !c->process->head.meta_lost)
		read_events_damage(&c->record->source, d->probe.at, READ_NO_PROBE);
}

static void count_other(struct read_count *c, enum read_decoded what)
{
	struct read_turns_record *record = c->record;
	const struct read_decoder *d = &record->source.decoder;
	const struct trace_chunk *head = &record->source.stream.chunk.head;

	switch (what) {
	case READ_DECODED_THREAD:
		change_stack(c, what);
		if (read_count_is_by_thread(c))
			record->thread_row = read_count_row_of_thread(c, d->tid, "", 0, false);
		break;
	case READ_DECODED_CHUNK:
		if (read_count_is_by_thread(c))
			read_count_row_of_thread(c, d->tid, head->comm, sizeof(head->comm), true);
		break;
	case READ_DECODED_GAP:
	case READ_DECODED_STACK:
	case READ_DECODED_PART:
		change_stack(c, what);
		break;
	case READ_DECODED_LOST:
		change_stack(c, what);
		break;
	case READ_DECODED_CRASH:
		c->sums.crashes++;
		c->sums.signal = d->signal;
		c->sums.signal_task = c->task;
		break;
	case READ_DECODED_PROBE:
		if (counts_here(c, d->now, d->tid))
			count_probe(c, d);
		break;
	case READ_DECODED_CUSTOM:
		if (counts_here(c, d->now, d->tid))
			read_customs_count(&c->customs, c->process, d->custom.type, d->custom.size);
		break;
	case READ_DECODED_NOTHING:
	case READ_DECODED_MORE:
	case READ_DECODED_VALUED:
		break;
	}
}

READ_INLINE bool take_event_on(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct loop *loop = user;

	(void)time;
	read_calls_event(&loop->c->calls, &loop->top, &hooks_on, loop->c, type, id, now, at);
	return false;
}

READ_INLINE bool take_other(void *user, enum read_decoded what)
{
	struct loop *loop = user;

	loop->c->calls.top = loop->top;
	count_other(loop->c, what);
	loop->top = loop->c->calls.top;
	loop->stop = (what == READ_DECODED_STACK && loop->c->record->by_turns) || loop->c->damage->no_memory;
	return loop->stop;
}

/*
 * Counts the words of a block; true: a hook said stop. In the fast lane, as long as that gets on; else the next events
 * are taken one by one, more of them each time that it did not.
 */
#define ONE_BY_ONE 64

static bool count_block(struct read_decoder *d, struct loop *loop)
{
	struct read_count *c = loop->c;
	unsigned part = 1;

	for (;;) {
		c->calls.top = loop->top;
		size_t taken = read_count_fast(c, d);
		loop->top = c->calls.top;
		if (d->at == d->have)
			return false;
		part = taken ? 1 : part < ONE_BY_ONE ? 2 * part : part;
		loop->left = part;
		if (!read_decode_block(d, take_event, take_other, loop))
			return false;
		if (loop->stop)
			return true;
	}
}

void read_count_events(struct read_count *c, struct read_turns_record *record)
{
	c->record = record;
	take_up(c, record->stack);
	struct loop loop = { .c = c, .top = c->calls.top };
	if (c->sched) {
		record->over = !read_events_all(&record->source, take_event_on, take_other, &loop);
	} else {
		do {
			if (read_events_tell(&record->source, take_other, &loop) ||
				count_block(&record->source.decoder, &loop))
				break;
			record->over = !read_events_next(&record->source);
		} while (!record->over);
	}
	record->next = record->source.decoder.now;
	c->calls.top = loop.top;
	lay_down(c);
}
