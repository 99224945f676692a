/* SPDX-License-Identifier: MIT */
#include "tool/read/api/timeline_ahead.h"

#include <stdlib.h>

#include "tool/read/api/functions.h"
#include "tool/read/api/threads.h"
#include "tool/read/api/timeline_calls.h"
#include "tool/read/api/timeline_tail.h"
#include "tool/read/damage/memory.h"
#include "tool/read/events/ahead.h"
#include "tool/read/process_load.h"

/* A thread record on its way. */
struct way {
	struct xaudit_read_events *e;
	struct read_merge_source *source;
	uint64_t until; /* ticks */
	bool there;	/* its next event is source->head, or it has none */
	bool turn;	/* it came to another stack */
};

/* more: source->head is its first event. */
static void arrive(struct way *way, bool more)
{
	way->source->more = more;
	way->there = true;
}

/* A call whose values must be kept, as its words are gone when it is told. */
static void take_valued(struct way *way, uint32_t id, uint64_t now)
{
	struct xaudit_read_events *e = way->e;
	const struct read_merge_event *from = &way->source->head;

	e->event->function = read_api_function(
		e->thread->process->process, read_process_function_now(way->source->process, id));
	e->event->depth = (uint32_t)read_calls_depth(&e->thread->on->calls);
	e->event->stack = from->stack;
	e->values = read_api_values_of(e->thread->process->process, from);
	read_api_pass_valued(e, id, now);
}

/* One word that is not plain; true: it was taken. */
static bool take_event(void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at)
{
	struct way *way = user;
	bool valued = type == TRACE_ENTRY && read_decode_values_at(&way->source->events.decoder, at);

	if (now >= way->until || valued)
		read_merge_take_event(way->source, type, id, time, now, at);
	if (now >= way->until)
		arrive(way, true);
	else if (valued)
		take_valued(way, id, now);
	else
		read_api_pass_event(way->e, type, id, now);
	return true;
}

static void change_thread(struct way *way)
{
	static const char no_name[READ_API_COMM];
	const struct trace_chunk *chunk = &way->source->events.stream.chunk.head;
	uint32_t tid = way->source->head.tid;

	read_api_thread(way->e->thread->process->process, tid, chunk->tid == tid ? chunk->comm : no_name);
	read_api_change_thread(way->e->thread, tid);
}

static bool take_other(void *user, enum read_decoded what)
{
	struct way *way = user;
	struct event_thread *thread = way->e->thread;

	if (!read_merge_take_other(way->source, what))
		return true;
	if (way->source->events.decoder.now >= way->until) {
		arrive(way, true);
		return true;
	}
	switch (way->source->head.type) {
	case READ_MERGE_THREAD:
		change_thread(way);
		break;
	case READ_MERGE_STACK:
	case READ_MERGE_PART:
		read_api_change_stack(thread, &way->source->head);
		way->turn = true;
		break;
	case READ_MERGE_LOST:
	case READ_MERGE_OVERWRITTEN:
		read_api_drop_thread(thread);
		break;
	default:
		break;
	}
	return true;
}

/* Follows the record up to its moment, or up to its next stack. */
static void follow(struct way *way)
{
	struct read_events *events = &way->source->events;
	struct read_decoder *d = &events->decoder;
	struct event_thread *thread = way->source->user;

	way->e->thread = thread;
	way->turn = false;
	do {
		while (read_events_tell(events, take_other, way))
			if (way->there || way->turn)
				return;
		do {
			read_ahead_block(d, &thread->on->calls, d->tid, way->until);
			if (d->at == d->have || !read_decode_block(d, take_event, take_other, way))
				break;
			if (way->there || way->turn || way->e->damage->no_memory)
				return;
		} while (d->at < d->have);
	} while (read_events_next(events));
	arrive(way, false);
}

struct adopted {
	struct xaudit_read_events *e;
	struct event_process *process;
};

/* Calls are made of those that are open on the stack: in ns from here on. */
static void adopt(void *user, struct read_stack_calls *stack)
{
	struct adopted *adopted = user;
	struct read_calls *calls = &stack->calls;

	for (struct read_call *frame = calls->frame + 1; frame <= calls->top; frame++)
		read_api_adopt_call(adopted->e, adopted->process, stack, frame);
	calls->frame->child = 0;
	read_api_relink(stack);
}

/* The record that is earliest; NULL: all are there. */
static struct way *earliest(struct way *way, unsigned ways)
{
	struct way *first = NULL;

	for (unsigned i = 0; i < ways; i++)
		if (!way[i].there && (!first || way[i].source->events.decoder.now <
							first->source->events.decoder.now))
			first = &way[i];
	return first;
}

static void follow_process(struct xaudit_read_events *e, struct event_process *process,
	const struct read_merge_process *of, struct way *way)
{
	const uint64_t from = e->from ? read_ahead_ticks(&of->process->clock, e->from) : 0;
	unsigned ways = 0;

	for (unsigned i = of->first; i < of->end; i++) {
		struct read_merge_source *source = e->merge.source[i];
		if (source->is_meta)
			read_merge_pass_meta(source, e->from);
		else if (source->user)
			way[ways++] = (struct way){ .e = e, .source = source, .until = from };
	}
	for (unsigned i = 0; i < ways && e->tail; i++) {
		uint64_t tail = read_api_tail(of->process, way[i].source->number, e->tail);
		way[i].until = tail > from ? tail : from;
	}
	if (of->process->head.moved)
		for (struct way *first; (first = earliest(way, ways)) && !e->damage->no_memory;)
			follow(first);
	else
		for (unsigned i = 0; i < ways; i++)
			while (!way[i].there && !e->damage->no_memory)
				follow(&way[i]);
	if (!e->damage->no_memory)
		read_stacks_each(&process->stacks, NULL, adopt, &(struct adopted){ e, process });
}

void read_api_events_ahead(struct xaudit_read_events *e)
{
	struct way *way = read_memory_zeroed(e->damage, e->merge.sources + 1, sizeof(*way));
	struct xaudit_read_event event = { 0 };

	e->event = &event;
	e->ahead = true;
	for (unsigned i = 0; way && i < e->merge.processes && !e->damage->no_memory; i++) {
		event.process = e->process[i].process;
		follow_process(e, &e->process[i], &e->merge.process[i], way);
	}
	e->ahead = false;
	e->event = NULL;
	e->thread = NULL;
	free(way);
}
