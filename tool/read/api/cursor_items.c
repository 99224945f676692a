/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_items.h"

#include <string.h>

#include "tool/read/api/cursor.h"
#include "tool/read/api/cursor_ahead.h"
#include "tool/read/api/cursor_requests.h"
#include "tool/read/api/cursor_slots.h"
#include "tool/read/api/cursor_stacks.h"
#include "tool/read/api/cursor_values.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/threads.h"
#include "tool/read/damage/memory.h"
#include "tool/read/sched/sched_cursor.h"

#define likely(x)   read_likely(x)
#define unlikely(x) read_unlikely(x)

/* ---- functions ---- */

/* First event of a function in this process. */
static __attribute__((noinline)) struct api_slot *slot_of_new_id(struct xaudit_read_calls *c, size_t at, uint32_t id)
{
	struct read_process *process = c->process->read;
	const struct read_function *function = read_process_function_now(process, id);

	if (!function && !process->head.meta_lost)
		read_events_damage(&c->record->source, at, "an event of a function that meta does not name");
	return read_api_slot_of(c, function, id);
}

READ_INLINE struct api_slot *slot_of(struct xaudit_read_calls *c, size_t at, uint32_t id)
{
	struct api_slot **page = c->page[id >> API_PAGE_BITS];
	struct api_slot *slot = likely(page) ? page[id & API_PAGE_MASK] : NULL;

	return likely(slot) ? slot : slot_of_new_id(c, at, id);
}

/* ---- calls ---- */

static __attribute__((noinline)) struct api_call *more_calls(struct xaudit_read_calls *c)
{
	size_t count = api_block_calls(c->blocks);
	struct api_call *block = NULL;

	if (read_memory_resize(c->damage, &c->block, c->blocks + 1ul, sizeof(*c->block)))
		block = read_memory_zeroed(c->damage, count, sizeof(*block));
	if (!block) {
		c->ready = true;
		return &c->last_resort;
	}
	c->block[c->blocks++] = block;
	for (size_t i = 1; i + 1 < count; i++)
		block[i].next = &block[i + 1];
	c->spare = &block[1];
	return block;
}

READ_INLINE struct api_call *new_call(struct xaudit_read_calls *c, struct api_slot *slot, struct api_call *parent,
	uint64_t start)
{
	struct api_call *call = c->spare;

	if (likely(call))
		c->spare = call->next;
	else
		call = more_calls(c);
	if (unlikely(c->requests))
		read_api_request_forget(c, call);
	call->slot = slot;
	call->outer = slot->open;
	call->around = call->outer && call->outer->left_out ? call->outer->around : call->outer;
	call->inner = 0;
	/* Each member by itself: gcc would clear the whole by an instruction that takes longer than all else here. */
	struct xaudit_read_call *public = &call->public;
	public->parent = parent ? &parent->public : NULL;
	public->function = slot->function;
	public->process = c->process;
	public->tid = c->record->source.decoder.tid;
	public->stack = c->record->source.decoder.stack;
	public->depth = parent ? parent->public.depth + 1 : 0;
	public->recursion = call->outer ? call->outer->public.recursion + 1 : 0;
	public->start = read_clock_time(&c->process->read->clock, start);
	public->end = XAUDIT_READ_UNKNOWN;
	public->how = public->reserved = 0;
	public->self = public->children = public->total = 0;
	public->cpu = public->cpu_self = XAUDIT_READ_UNKNOWN;
	public->ticks.self = public->ticks.children = public->ticks.total = 0;
	public->ticks.cpu = public->ticks.cpu_self = XAUDIT_READ_UNKNOWN;
	public->user[0] = public->user[1] = 0;
	public->entered = public->ended = NULL;
	public->request = NULL;
	public->id = c->ids++;
	call->left_out = call->public.start < c->from || call->public.start >= c->to ||
			 (c->tid && call->public.tid != c->tid);
	c->wanted += !call->left_out;
	return call;
}

/* The call is over: it waits to be told, or it is free. */
READ_INLINE void finish(struct xaudit_read_calls *c, struct api_call *call, enum xaudit_read_end how, uint64_t now)
{
	if (unlikely(call == &c->last_resort))
		return;
	call->public.how = how;
	call->time = now;
	if (unlikely(call->left_out)) {
		call->next = c->spare;
		c->spare = call;
		return;
	}
	c->wanted--;
	call->next = NULL;
	*c->waiting_end = call;
	c->waiting_end = &call->next;
	c->ready = true;
}

/* Adds units to a sum, and returns by how many ns the sum grows. */
READ_INLINE uint64_t add(const struct read_clock *unit, uint64_t *sum, uint64_t *ns, uint64_t units)
{
	uint64_t before = *ns;

	*sum += units;
	*ns = read_clock_span(unit, *sum);
	return *ns - before;
}

READ_INLINE struct api_call *call_of(const struct read_calls *calls, struct read_call *frame)
{
	return frame > calls->frame ? frame->user : NULL;
}

READ_INLINE void enter(void *user, struct read_call *frame, size_t at)
{
	struct xaudit_read_calls *c = user;
	struct api_slot *slot = slot_of(c, at, frame->id);
	struct api_call *call = new_call(c, slot, call_of(&c->calls, frame - 1), frame->start);

	frame->child = 0;
	frame->user = call;
	if (unlikely(c->has) && call != &c->last_resort)
		call->public.entered = read_api_keep_event_values(c, &call->entered);
	if (unlikely(c->requests) && call != &c->last_resort)
		read_api_request_enter(c, call, call_of(&c->calls, frame - 1));
	if (unlikely(c->sched)) {
		call->on = read_sched_stack_on(&c->record->on, frame->start);
		call->on_child = 0;
	}
	slot->open = call;
	if (c->enters && !call->left_out) {
		c->entered = call;
		c->ready = true;
	}
}

/* A call that is told at once, and never open. */
static void tell_alone(struct xaudit_read_calls *c, uint32_t id, size_t at, enum xaudit_read_end how, uint64_t now)
{
	struct api_slot *slot = slot_of(c, at, id);
	struct api_call *parent = call_of(&c->calls, c->calls.top), *call = new_call(c, slot, parent, now);

	if (c->has && call != &c->last_resort)
		call->public.entered = read_api_keep_event_values(c, &call->entered);
	if (c->requests && call != &c->last_resort)
		read_api_request_enter(c, call, parent);
	finish(c, call, how, now);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct xaudit_read_calls *c = user;

	if (c->calls.no_memory) {
		c->damage->no_memory = c->ready = true;
		return;
	}
	c->sums.unfinished++;
	tell_alone(c, id, at, XAUDIT_READ_NO_END, c->record->source.decoder.now);
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct xaudit_read_calls *c = user;

	c->sums.points++;
	tell_alone(c, id, at, XAUDIT_READ_POINT, now);
}

READ_INLINE uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How long the call was on processors; time: of all its time, in units. */
static __attribute__((noinline)) void take_cpu(
	struct xaudit_read_calls *c, struct read_call *frame, uint64_t now, uint64_t time)
{
	struct api_call *call = frame->user, *parent = call_of(&c->calls, frame - 1);
	struct xaudit_read_call *public = &call->public;
	const struct read_clock *clock = &c->process->read->clock;
	uint64_t on = read_sched_stack_on(&c->record->on, now) - call->on, ns = public->end - public->start;

	/* Of the calls around it that is not known either. */
	if (read_sched_stack_unknown(&c->record->on) > frame->start)
		return;
	if (parent)
		parent->on_child += on;
	uint64_t own = on > call->on_child ? on - call->on_child : 0;
	public->cpu = least(read_clock_span(clock, on), ns);
	public->cpu_self = least(read_clock_span(clock, own), public->cpu);
	public->ticks.cpu = least(c->scale ? read_clock_units(clock, on) : on, time);
	public->ticks.cpu_self = least(c->scale ? read_clock_units(clock, own) : own, public->ticks.cpu);
}

void read_api_give_up(struct xaudit_read_calls *c, struct api_call *call, uint64_t now)
{
	if (call)
		finish(c, call, XAUDIT_READ_NO_END, now);
}

READ_INLINE void end_timed(
	struct xaudit_read_calls *c, struct read_call *frame, enum xaudit_read_end how, uint64_t now)
{
	struct api_call *call = frame->user;
	struct api_slot *slot = call->slot;
	struct xaudit_read_call *public = &call->public;
	const struct read_clock *clock = &c->process->read->clock;
	uint64_t time = now - frame->start;

	if (unlikely(c->scale))
		time = read_clock_units(clock, time);
	frame[-1].child += time;
	slot->open = call->outer;
	public->end = read_clock_time(clock, now);
	if (unlikely(c->sched))
		take_cpu(c, frame, now, time);
	if (likely(!call->left_out)) {
		uint64_t ns = public->end - public->start;
		public->ticks.self = time - frame->child;
		public->ticks.children = frame->child;
		public->self = add(&c->unit, &slot->self, &slot->self_ns, time - frame->child);
		/* Pairs of clocks that can't be true may say that it began before the clock did: that is told as 0. */
		if (unlikely(public->self > ns + 1))
			public->self = ns;
		public->children = frame->child && ns > public->self ? ns - public->self : 0;
		if (call->around) {
			call->around->inner += time;
		} else {
			public->ticks.total = time;
			public->total = add(&c->unit, &slot->total, &slot->total_ns, time);
		}
	}
	finish(c, call, how, now);
}

/* Ends a call whose time is not known. The times of calls in it count for the calls further out. */
static void end_untimed(struct xaudit_read_calls *c, struct read_call *frame, enum xaudit_read_end how, uint64_t now)
{
	struct api_call *call = frame->user;
	struct api_slot *slot = call->slot;

	frame[-1].child += frame->child;
	if (unlikely(c->sched) && call_of(&c->calls, frame - 1))
		call_of(&c->calls, frame - 1)->on_child += call->on_child;
	slot->open = call->outer;
	call->public.children = read_clock_span(&c->unit, frame->child);
	call->public.ticks.children = frame->child;
	if (call->around) {
		call->around->inner += call->inner;
	} else {
		call->public.ticks.total = call->inner;
		call->public.total = add(&c->unit, &slot->total, &slot->total_ns, call->inner);
	}
	finish(c, call, how, now);
}

/* Ends a call that has no end of its own: its time is known unless recording ended in it. */
static __attribute__((noinline)) void end_for_want(
	struct xaudit_read_calls *c, struct read_call *frame, enum xaudit_read_end how, uint64_t now)
{
	if (!read_stops_between(&c->stops, frame->start, now)) {
		end_timed(c, frame, how, now);
		return;
	}
	c->sums.off++;
	end_untimed(c, frame, XAUDIT_READ_OFF, now);
}

READ_INLINE void end(void *user, struct read_call *frame, enum read_call_end how, uint64_t now)
{
	struct xaudit_read_calls *c = user;
	struct api_call *call = frame->user;

	if (unlikely(c->has) && how != READ_CALL_CUT && call != &c->last_resort)
		call->public.ended = read_api_keep_event_values(c, &call->ended);
	if (likely(how == READ_CALL_RETURNED))
		end_timed(user, frame, XAUDIT_READ_RETURNED, now);
	else if (how == READ_CALL_JUMPED)
		end_timed(user, frame, XAUDIT_READ_JUMPED, now);
	else
		end_for_want(user, frame, how == READ_CALL_CUT ? XAUDIT_READ_CUT : XAUDIT_READ_UNWOUND, now);
}

/* A call that was passed over (cursor_ahead.h) has nothing that anybody wants; after the cut nobody knows its end. */
static void drop(void *user, struct read_call *frame)
{
	struct xaudit_read_calls *c = user;

	c->sums.unfinished += !c->record->cut;
	if (!frame->user)
		return;
	end_untimed(c, frame, XAUDIT_READ_NO_END, c->record->source.decoder.now);
}

static bool may_be_open(void *user, uint32_t id, size_t at)
{
	struct xaudit_read_calls *c = user;

	return slot_of(c, at, id)->open != NULL;
}

static void orphan(void *user, uint32_t id, uint64_t now)
{
	struct xaudit_read_calls *c = user;

	(void)id;
	(void)now;
	read_turns_orphan(c->process->read, &c->calls, &c->sums.inherited, &c->sums.orphans);
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .drop = drop, .point = point, .orphan = orphan,
	.may_be_open = may_be_open,
};

void read_api_drop_calls(struct xaudit_read_calls *c)
{
	read_calls_drop(&c->calls, &hooks, c);
}

/* ---- calls that were passed over ---- */

static void pass_enter(void *user, struct read_call *frame, size_t at)
{
	struct xaudit_read_calls *c = user;

	(void)at;
	frame->row = c->record->source.decoder.tid;
	frame->child = 0;
	frame->user = NULL;
	c->passed = true;
}

static void pass_end(void *user, struct read_call *frame, enum read_call_end how, uint64_t now)
{
	if (frame->user)
		end(user, frame, how, now);
}

static void pass_point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct xaudit_read_calls *c = user;

	(void)id;
	(void)now;
	(void)at;
	c->sums.points++;
}

static struct api_call *adopt(struct xaudit_read_calls *c, struct read_call *frame, struct api_call *parent)
{
	struct api_slot *slot = slot_of(c, c->record->source.decoder.at, frame->id);
	struct api_call *call = new_call(c, slot, parent, frame->start);

	if (call == &c->last_resort)
		return call;
	call->public.tid = frame->row;
	call->public.stack = c->stack->number;
	if (c->requests)
		read_api_request_enter(c, call, parent);
	call->on = call->on_child = 0; /* they count for calls alone that are left out, as this one is */
	return call;
}

void read_api_adopt(struct xaudit_read_calls *c)
{
	struct api_call *parent = NULL;

	/* Memory of calls that are around those that wait is free, so it may be used again afterwards only. */
	if (!c->passed || c->ready)
		return;
	c->passed = false;
	for (struct read_call *frame = c->calls.frame + 1; frame <= c->calls.top; frame++)
		if (frame->user)
			((struct api_call *)frame->user)->slot->open = NULL;
	for (struct read_call *frame = c->calls.frame + 1; frame <= c->calls.top; frame++) {
		if (frame->user)
			read_api_open_again(frame->user, parent);
		else
			frame->user = adopt(c, frame, parent);
		parent = frame->user;
		parent->slot->open = parent;
	}
}

void read_api_pass_over(struct xaudit_read_calls *c, enum trace_type type, uint32_t id, uint64_t now, size_t at)
{
	static const struct read_calls_hooks passing = {
		.enter = pass_enter, .deep = enter_deep, .end = pass_end, .drop = drop, .point = pass_point,
		.orphan = orphan,
	};
	struct read_call *top = c->calls.top;

	c->has = NULL;
	read_calls_event(&c->calls, &top, &passing, c, type, id, now, at);
	c->calls.top = top;
}

/* ---- events ---- */

/* Values that the loop keeps in registers. */
struct loop {
	struct xaudit_read_calls *c;
	struct read_call *top;
};

READ_INLINE bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct loop *loop = user;

	(void)time;
	if (unlikely(loop->c->values))
		loop->c->has = read_decode_values_at(&loop->c->record->source.decoder, at);
	read_calls_event(&loop->c->calls, &loop->top, &hooks, loop->c, type, id, now, at);
	return loop->c->ready;
}

static void tell(struct xaudit_read_calls *c, enum xaudit_read_what what, uint64_t count)
{
	const struct read_turns_record *record = c->record;

	c->other = (struct xaudit_read_item){
		.what = (int)what,
		.tid = record->source.decoder.tid,
		.process = c->process,
		.thread = record->thread,
		.time = read_clock_time(&c->process->read->clock, record->source.decoder.now),
		.count = count,
	};
	c->ready = true;
}

static void tell_lost(struct xaudit_read_calls *c)
{
	uint64_t lost = c->record->source.stream.chunk.head.lost, left = c->process->read->head.lost - c->lost_told;

	/* The process's head counts these; but it may have been read before the chunk. */
	lost = lost < left ? lost : left;
	c->lost_told += lost;
	c->sums.lost += lost;
	if (c->losses && lost)
		tell(c, XAUDIT_READ_LOST, lost);
}

static void tell_custom(struct xaudit_read_calls *c)
{
	const struct read_decode_custom *custom = &c->record->source.decoder.custom;
	struct api_call *call = call_of(&c->calls, c->calls.top);

	c->sums.customs++;
	if (c->requests)
		read_api_request_event(c, custom);
	if (!c->customs)
		return;
	tell(c, XAUDIT_READ_CUSTOM, 0);
	c->other.call = call ? &call->public : NULL;
	c->other.type = read_process_type_now(c->process->read, custom->type);
	c->other.type_number = custom->type;
	c->other.data_size = custom->size;
	c->other.data = custom->data;
}

static void tell_probe(struct xaudit_read_calls *c)
{
	const struct read_decode_probe at = c->record->source.decoder.probe;
	struct api_call *call = call_of(&c->calls, c->calls.top);
	bool named;

	c->sums.probes++;
	if (!c->probes)
		return;
	tell(c, XAUDIT_READ_PROBE, 0);
	c->other.call = call ? &call->public : NULL;
	c->other.probe = read_api_probe(c->process, at.id, &named);
	if (!named && !c->process->read->head.meta_lost)
		read_events_damage(&c->record->source, at.at, READ_NO_PROBE);
	c->has = c->values ? read_decode_values_at(&c->record->source.decoder, at.at) : NULL;
	if (c->has)
		c->other.values = read_api_keep_event_values(c, &c->other_values);
}

static void take_thread(struct xaudit_read_calls *c)
{
	read_api_thread(c->process, c->record->source.decoder.tid, c->record->thread);
	c->ready |= c->damage->no_memory;
}

/* Behind --to, where no call is open any more that is told: the chunks that follow are not read. */
static void cut(struct xaudit_read_calls *c)
{
	struct read_turns_record *record = c->record;

	if (record->source.decoder.now < c->to_ticks || c->wanted || c->to_end)
		return;
	record->cut = true;
	read_events_skip_chunk(&record->source);
}

void read_api_take_rare(struct xaudit_read_calls *c, enum read_decoded what)
{
	struct read_turns_record *record = c->record;
	const struct trace_chunk *head = &record->source.stream.chunk.head;

	switch (what) {
	case READ_DECODED_THREAD:
		read_api_switch_stack(c, what);
		memset(record->thread, 0, sizeof(record->thread));
		take_thread(c);
		break;
	case READ_DECODED_CHUNK:
		memcpy(record->thread, head->comm, sizeof(head->comm));
		take_thread(c);
		c->done += read_events_chunk_words(&record->source) * sizeof(uint64_t);
		cut(c);
		break;
	case READ_DECODED_GAP:
		read_api_switch_stack(c, what);
		if (c->losses)
			tell(c, XAUDIT_READ_GONE, record->source.missing);
		break;
	case READ_DECODED_STACK:
	case READ_DECODED_PART:
		read_api_switch_stack(c, what);
		record->turn = what == READ_DECODED_STACK && record->by_turns;
		break;
	case READ_DECODED_LOST:
		read_api_switch_stack(c, what);
		tell_lost(c);
		break;
	case READ_DECODED_CRASH:
		c->sums.crashes++;
		c->sums.signal = record->source.decoder.signal;
		break;
	case READ_DECODED_CUSTOM:
		tell_custom(c);
		break;
	case READ_DECODED_PROBE:
		tell_probe(c);
		break;
	case READ_DECODED_NOTHING:
	case READ_DECODED_MORE:
	case READ_DECODED_VALUED:
		break;
	}
}

READ_INLINE bool take_other(void *user, enum read_decoded what)
{
	struct loop *loop = user;

	loop->c->calls.top = loop->top;
	read_api_take_rare(loop->c, what);
	loop->top = loop->c->calls.top;
	return loop->c->ready || loop->c->record->turn;
}

void read_api_take_event(struct xaudit_read_calls *c, enum trace_type type, uint32_t id, uint64_t now, size_t at)
{
	struct loop loop = { c, c->calls.top };

	take_event(&loop, type, id, now, now, at);
	c->calls.top = loop.top;
}

void read_api_read_on(struct xaudit_read_calls *c)
{
	struct read_turns_record *record = c->record;

	if (!read_api_ahead(c)) {
		read_api_adopt(c);
		struct loop loop = { c, c->calls.top };
		record->over = !read_events_all(&record->source, take_event, take_other, &loop);
		c->calls.top = loop.top;
	}
	record->next = record->source.decoder.now;
}
