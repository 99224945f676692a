/* SPDX-License-Identifier: MIT */
#include "tool/read/api/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/facts.h"
#include "tool/read/api/frames.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/threads.h"
#include "tool/read/api/timeline_ahead.h"
#include "tool/read/api/timeline_calls.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"

#define PAGE_BITS 6 /* small, since all processes have some, and there may be thousands */

/* ---- events ---- */

/* The function of an index in a process; NULL: no memory. */
static const struct xaudit_read_function *function_at(
	struct xaudit_read_events *e, struct event_process *process, const struct read_merge_source *source,
	const struct read_merge_event *from)
{
	uint32_t index = from->index, page = index >> PAGE_BITS;

	if (index == UINT32_MAX)
		return read_api_function(process->process, NULL);
	if (page >= process->pages) {
		if (!read_memory_resize(e->damage, &process->page, page + 1ul, sizeof(*process->page)))
			return NULL;
		memset(process->page + process->pages, 0, (page + 1 - process->pages) * sizeof(*process->page));
		process->pages = page + 1;
	}
	if (!process->page[page])
		process->page[page] = read_memory_zeroed(e->damage, 1u << PAGE_BITS, sizeof(**process->page));
	if (!process->page[page])
		return NULL;
	const struct xaudit_read_function **function = &process->page[page][index & ((1u << PAGE_BITS) - 1)];
	if (!*function)
		*function = read_api_function(process->process, read_merge_function(source, from));
	return *function;
}

/* Where a function is. function: the same as the process has it; NULL: it has no name for it. */
static void set_place(struct xaudit_read_event *event, const struct read_merge_source *source,
	const struct xaudit_read_function *public, const struct read_function *function)
{
	const struct read_object *object = function ? read_process_object(source->process, function->object) : NULL;
	const struct read_load *load = object ? read_merge_load_of(source, object) : NULL;

	event->object = public ? public->object : NULL;
	if (load)
		event->address = load->base + function->offset;
}

static void take_change(struct xaudit_read_events *e, const struct xaudit_read_process *process,
	const struct read_merge_source *source)
{
	const struct xaudit_read_change *change = &e->change;

	e->event->change = change;
	if (change->function)
		set_place(e->event, source, change->function,
			read_process_function(process->read, (uint32_t)change->value));
}

/* The thread that an event is about which is in no thread record, or NULL. */
static struct event_thread *thread_of(const struct xaudit_read_events *e, const struct read_merge_source *meta,
	uint32_t tid)
{
	for (unsigned i = meta->of->first; i < meta->of->end; i++) {
		struct event_thread *thread = e->merge.source[i]->user;
		if (thread && thread->tid == tid)
			return thread;
	}
	return NULL;
}

static void take_call(
	struct xaudit_read_events *e, struct read_merge_source *source, const struct read_merge_event *from)
{
	const struct read_merge_event *next = &source->head;

	e->event->function = function_at(e, e->thread->process, source, from);
	e->values = read_api_values_of(e->thread->process->process, from);
	e->event->values = e->values.layout ? &e->values : NULL;
	set_place(e->event, source, e->event->function, read_merge_function(source, from));
	/* Does the call's end come next in its record? */
	if (e->leaves && from->type == READ_MERGE_ENTRY && source->more && next->id == from->id &&
		(next->type == READ_MERGE_EXIT || next->type == READ_MERGE_TAIL || next->type == READ_MERGE_UNWIND)) {
		read_api_take_leaf(e, from, next);
		read_merge_skip(&e->merge, source);
	} else {
		read_api_take_call(e, from);
	}
}

static void take_probe(
	struct xaudit_read_events *e, struct read_merge_source *source, const struct read_merge_event *from)
{
	struct xaudit_read_event *event = e->event;
	const struct read_function *function = read_merge_function(source, from);
	bool named;

	event->probe = read_api_probe(e->thread->process->process, from->id, &named);
	e->values = read_api_values_of(e->thread->process->process, from);
	event->values = e->values.layout ? &e->values : NULL;
	set_place(event, source, NULL, function);
	event->object = event->probe ? event->probe->object : NULL;
}

static const char no_name[READ_API_COMM];

static const enum xaudit_read_event_what what_of[] = {
	[READ_MERGE_ENTRY] = XAUDIT_READ_EVENT_ENTRY,
	[READ_MERGE_EXIT] = XAUDIT_READ_EVENT_EXIT,
	[READ_MERGE_TAIL] = XAUDIT_READ_EVENT_TAIL,
	[READ_MERGE_UNWIND] = XAUDIT_READ_EVENT_UNWIND,
	[READ_MERGE_POINT] = XAUDIT_READ_EVENT_POINT,
	[READ_MERGE_LOST] = XAUDIT_READ_EVENT_LOST,
	[READ_MERGE_THREAD] = XAUDIT_READ_EVENT_THREAD,
	[READ_MERGE_LOAD] = XAUDIT_READ_EVENT_LOAD,
	[READ_MERGE_UNLOAD] = XAUDIT_READ_EVENT_UNLOAD,
	[READ_MERGE_LOADER] = XAUDIT_READ_EVENT_LOADER,
	[READ_MERGE_CHANGE] = XAUDIT_READ_EVENT_CHANGE,
	[READ_MERGE_CRASH] = XAUDIT_READ_EVENT_CRASH,
	[READ_MERGE_CUSTOM] = XAUDIT_READ_EVENT_CUSTOM,
	[READ_MERGE_STACK] = XAUDIT_READ_EVENT_STACK,
	[READ_MERGE_PART] = XAUDIT_READ_EVENT_PART,
	[READ_MERGE_PROBE] = XAUDIT_READ_EVENT_PROBE,
	[READ_MERGE_OVERWRITTEN] = XAUDIT_READ_EVENT_GONE,
};

static void take(struct xaudit_read_events *e, struct read_merge_source *source, const struct read_merge_event *from)
{
	struct xaudit_read_event *event = e->event;
	struct event_process *process = &e->process[source->of - e->merge.process];
	struct event_thread *thread = source->user;
	const struct trace_chunk *chunk;

	*event = e->no_event;
	event->what = (int)what_of[from->type];
	event->tid = from->tid;
	event->process = process->process;
	event->time = from->time;
	event->record = source->is_meta ? UINT32_MAX : source->number;
	e->thread = thread ? thread : thread_of(e, source, from->tid);
	if (e->thread)
		read_api_set_open(event, e->thread);
	switch (from->type) {
	case READ_MERGE_ENTRY:
	case READ_MERGE_EXIT:
	case READ_MERGE_TAIL:
	case READ_MERGE_UNWIND:
	case READ_MERGE_POINT:
		event->stack = from->stack;
		take_call(e, source, from);
		break;
	case READ_MERGE_PROBE:
		event->stack = from->stack;
		take_probe(e, source, from);
		break;
	case READ_MERGE_THREAD:
		/* The name stands in the head of a chunk of its own. */
		chunk = &source->events.stream.chunk.head;
		read_api_thread(process->process, from->tid, chunk->tid == from->tid ? chunk->comm : no_name);
		read_api_change_thread(thread, from->tid);
		read_api_set_open(event, thread);
		break;
	case READ_MERGE_STACK:
	case READ_MERGE_PART:
		read_api_change_stack(thread, from);
		read_api_set_open(event, thread);
		event->stack = from->id;
		break;
	case READ_MERGE_LOST:
	case READ_MERGE_OVERWRITTEN: /* what was open may have ended there */
		event->count = from->count;
		if (thread) {
			read_api_drop_thread(thread);
			read_api_set_open(event, thread);
		}
		break;
	case READ_MERGE_LOAD:
	case READ_MERGE_UNLOAD:
		event->object = read_api_object(e->trace, from->object);
		event->address = from->base;
		event->load = from->load;
		event->inherited = from->inherited;
		break;
	case READ_MERGE_LOADER:
		event->count = from->count;
		event->own = from->own;
		event->unmaps = from->id != 0;
		break;
	case READ_MERGE_CHANGE:
		read_api_change(&e->change, process->process, (uint32_t)from->count);
		take_change(e, process->process, source);
		break;
	case READ_MERGE_CRASH:
		event->signal = (int)from->count;
		break;
	case READ_MERGE_CUSTOM:
		event->type = read_process_type_now(source->process, from->id);
		event->type_number = from->id;
		event->data_size = (uint32_t)from->count;
		event->data = from->data;
		e->values = read_api_backtrace_of(process->process, from->key, &from->chain, from->ticks);
		event->values = e->values.layout ? &e->values : NULL;
		break;
	}
}

/* All threads end. */
static void end_all(struct xaudit_read_events *e)
{
	e->ended = true;
	for (unsigned i = 0; i < e->merge.sources; i++)
		if (e->merge.source[i]->user)
			read_api_drop_thread(e->merge.source[i]->user);
}

/* The calls without an end, and then the event for which they were given up. */
static int tell_unfinished(struct xaudit_read_events *e, struct xaudit_read_event *event)
{
	if (e->unfinished_at < e->unfinished_count) {
		uint64_t time = e->is_held ? e->held.time : event->time;
		*event = e->unfinished[e->unfinished_at++];
		event->time = time;
		return event->what;
	}
	e->unfinished_at = e->unfinished_count = 0;
	*event = e->held;
	e->is_held = false;
	return event->what;
}

static int fail(struct xaudit_read_event *event)
{
	*event = (struct xaudit_read_event){ .what = XAUDIT_READ_EVENT_END, .address = XAUDIT_READ_UNKNOWN };
	return event->what;
}

int xaudit_read_next_event(struct xaudit_read_events *e, struct xaudit_read_event *event)
{
	struct read_merge_source *source;
	struct read_merge_event from;

	if (e->damage->no_memory)
		return fail(event);
	if (e->is_held)
		return tell_unfinished(e, event);
	read_api_free_told(e);
	e->event = event;
	do
		source = e->ended ? NULL : read_merge_next(&e->merge, &from);
	while (source && ((from.type == READ_MERGE_LOADER && !e->loader) ||
				 (from.type == READ_MERGE_PROBE && !e->probes)));
	if (source) {
		take(e, source, &from);
	} else {
		*event = (struct xaudit_read_event){
			.what = XAUDIT_READ_EVENT_END,
			.time = e->held.time,
			.address = XAUDIT_READ_UNKNOWN,
		};
		if (!e->ended)
			end_all(e);
	}
	if (e->damage->no_memory)
		return fail(event);
	e->held.time = event->time;
	if (!e->unfinished_count)
		return event->what;
	e->held = *event;
	e->is_held = true;
	return tell_unfinished(e, event);
}

/* ---- all ---- */

static struct event_thread *new_thread(struct xaudit_read_events *e, struct event_process *process)
{
	struct event_thread *thread = read_memory_zeroed(e->damage, 1, sizeof(*thread));

	if (!thread)
		return NULL;
	*thread = (struct event_thread){
		.events = e,
		.process = process,
		.on = read_stacks_enter(&process->stacks, 0, thread),
	};
	if (thread->on)
		return thread;
	e->damage->no_memory = true;
	free(thread);
	return NULL;
}

static bool begin(struct xaudit_read_events *e, const struct xaudit_read_process *only, bool loads)
{
	struct xaudit_read_trace *trace = e->trace;

	if (!read_merge_open(&e->merge, trace->folder, only ? only->read : NULL, loads))
		return false;
	e->process = read_memory_zeroed(e->damage, e->merge.processes, sizeof(*e->process));
	for (unsigned i = 0; e->process && i < e->merge.processes; i++) {
		const struct read_merge_process *from = &e->merge.process[i];
		struct event_process *process = &e->process[i];
		process->process = &trace->process[only ? only->number : i];
		read_api_take(process->process);
		for (unsigned k = from->first; k < from->end; k++)
			if (!e->merge.source[k]->is_meta)
				e->merge.source[k]->user = new_thread(e, process);
	}
	if ((e->from || e->tail) && !e->damage->no_memory)
		read_api_events_ahead(e);
	if (!e->damage->no_memory)
		read_merge_begin(&e->merge);
	return !e->damage->no_memory;
}

struct xaudit_read_events *xaudit_read_events(struct xaudit_read_trace *trace,
	const struct xaudit_read_events_options *options, struct xaudit_read_error *error)
{
	const struct xaudit_read_process *only = READ_API_OPTION(options, process);
	struct xaudit_read_events *e;

	const char *wrong = READ_API_NO_SIZE(options);

	if (only && only->trace != trace)
		wrong = "the process is of another trace";
	read_api_error(error, wrong ? XAUDIT_READ_USAGE : XAUDIT_READ_OK, wrong ? wrong : "");
	if (wrong)
		return NULL;
	e = read_memory_zeroed(&trace->folder->damage, 1, sizeof(*e));
	if (e) {
		e->trace = trace;
		e->no_event.address = XAUDIT_READ_UNKNOWN;
		e->no_call.end = e->no_call.cpu = XAUDIT_READ_UNKNOWN;
		e->damage = &trace->folder->damage;
		e->leaves = READ_API_OPTION(options, leaves);
		e->loader = READ_API_OPTION(options, loader);
		e->probes = READ_API_OPTION(options, probes);
		e->from = READ_API_OPTION(options, from);
		e->tail = READ_API_OPTION(options, tail);
		e->older = trace->events;
		trace->events = e;
		if (begin(e, only, READ_API_OPTION(options, loads)))
			return e;
		xaudit_read_events_close(e);
	}
	read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
	return NULL;
}

void xaudit_read_events_close(struct xaudit_read_events *e)
{
	struct xaudit_read_events **at;

	if (!e)
		return;
	for (at = &e->trace->events; *at != e;)
		at = &(*at)->older;
	*at = e->older;
	for (unsigned i = 0; i < e->merge.sources; i++)
		free(e->merge.source[i]->user);
	for (unsigned i = 0; e->process && i < e->merge.processes; i++) {
		struct event_process *process = &e->process[i];
		read_stacks_close(&process->stacks);
		for (uint32_t k = 0; k < process->pages; k++)
			free(process->page[k]);
		free(process->page);
		if (process->process)
			read_api_leave(process->process);
	}
	free(e->process);
	read_merge_close(&e->merge);
	for (uint32_t i = 0; i < e->blocks; i++)
		read_api_free_block(e, i);
	free(e->block);
	free(e->unfinished);
	free(e);
}
