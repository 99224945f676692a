/* SPDX-License-Identifier: MIT */
#include "tool/locks/read.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/locks/functions.h"
#include "tool/locks/meanwhile.h"
#include "tool/show/show_trace.h"

#define VALUES 8 /* of a call, more than any of these functions has */

static uint32_t process_of(struct locks_reading *r, struct xaudit_read_process *process)
{
	uint32_t hash = hash_key((uintptr_t)process, 0);
	uint32_t found = HASH_FIND(i, &r->by_process, hash, r->process[i].process == process);

	if (found != HASH_NONE)
		return found;
	r->process = memory_grow(r->process, r->processes, sizeof(*r->process));
	memory_hash(&r->by_process, hash, r->processes);
	r->process[r->processes] = (struct locks_process){ .process = process };
	return r->processes++;
}

static const struct locks_meaning *meaning_of(struct locks_reading *r, const struct xaudit_read_function *function)
{
	uint32_t number = function->number;

	if (number >= r->meanings) {
		uint32_t meanings = (number + 64) * 2;
		r->meaning = memory_resize(r->meaning, meanings, sizeof(*r->meaning));
		memset(r->meaning + r->meanings, 0, (meanings - r->meanings) * sizeof(*r->meaning));
		r->meanings = meanings;
	}
	struct locks_meaning *meaning = &r->meaning[number];
	if (!meaning->known) {
		meaning->known = true;
		meaning->function = locks_function(function->name, function->aliases);
		meaning->ends = !strcmp(function->name, LOCKS_THREAD_ENDS);
	}
	return meaning;
}

/* key: of the backtrace among the values; 0: there is none. */
static uint32_t place_of(struct locks_reading *r, uint32_t process, const struct xaudit_read_call *call, uint64_t key,
	const struct xaudit_read_values *values)
{
	const struct locks_origin place = {
		.process = process, .function = call->function->number, .key = key,
		.caller = call->parent ? call->parent->function->number : LOCKS_NONE,
	};
	uint32_t hash = hash_key(key ^ place.function, (uint64_t)process << 32 | place.caller);
	uint32_t found = HASH_FIND(i, &r->by_place, hash,
		r->place[i].process == process && r->place[i].function == place.function &&
			r->place[i].caller == place.caller && r->place[i].key == key);

	if (found != HASH_NONE)
		return found;
	r->place = memory_grow(r->place, r->places, sizeof(*r->place));
	memory_hash(&r->by_place, hash, r->places);
	r->place[r->places] = place;
	if (key)
		r->place[r->places].stack = xaudit_read_stack(values);
	return r->places++;
}

/* ---- values ---- */

struct told {
	uint64_t argument[2], key; /* key: of the backtrace; 0 */
	int64_t result;
	bool has[2];
};

/* 0 or 1: it is called arg1 or arg2; 2: it is not. */
static uint32_t argument_of(const char *name)
{
	bool is_one = name[0] == 'a' && name[1] == 'r' && name[2] == 'g' && (name[3] == '1' || name[3] == '2') &&
		      !name[4];

	return is_one ? (uint32_t)(name[3] - '1') : 2;
}

/* Contexts have values by name (`arg1`), prototypes as arguments and results. */
static void take_value(struct told *told, const struct xaudit_read_value *value)
{
	bool named = value->role == XAUDIT_READ_VALUE_NAMED;

	if (value->type == XAUDIT_READ_VALUE_STACK) {
		told->key = value->number;
		return;
	}
	if (value->state != XAUDIT_READ_VALUE_WHOLE || value->type == XAUDIT_READ_VALUE_TEXT ||
		value->type == XAUDIT_READ_VALUE_BYTES || value->type == XAUDIT_READ_VALUE_STRUCTS)
		return;
	uint32_t argument = named ? argument_of(value->name) : 2;
	if (value->role == XAUDIT_READ_VALUE_ARGUMENT && !(value->marks & XAUDIT_READ_VALUE_OUT))
		argument = value->place;
	if (argument < 2) {
		told->argument[argument] = value->number;
		told->has[argument] = true;
		return;
	}
	/* All these functions return int. */
	if (value->role == XAUDIT_READ_VALUE_RESULT || (named && !strcmp(value->name, "ret")))
		told->result = (int32_t)value->number;
}

static void take_values(struct told *told, const struct xaudit_read_values *values)
{
	struct xaudit_read_value value[VALUES];
	uint32_t count = xaudit_read_values(values, value, VALUES);

	*told = (struct told){ .result = LOCKS_UNKNOWN };
	for (uint32_t i = 0; i < count && i < VALUES; i++)
		take_value(told, &value[i]);
}

/* ---- calls ---- */

/* The process and the thread whose event it is, at which both are now. */
static uint32_t thread_of(struct locks_reading *r, const struct xaudit_read_event *event, uint32_t *process)
{
	struct locks_recent *recent = &r->recent[event->tid % LOCKS_RECENT];

	if (recent->tid != event->tid || recent->from != event->process) {
		*process = process_of(r, event->process);
		*recent = (struct locks_recent){
			.from = event->process, .tid = event->tid, .process = *process,
			.thread = locks_thread(&r->locks, *process, event->tid),
		};
	}
	*process = recent->process;
	r->process[*process].last = event->time;
	return recent->thread;
}

static void enter(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process, thread = thread_of(r, event, &process);
	const struct locks_function *function = meaning_of(r, event->function)->function;
	struct told told;

	if (function) {
		take_values(&told, event->values);
		r->calls++;
		bool named = told.has[0] && (function->act != LOCKS_WAIT || told.has[1]);
		r->unnamed += !named;
		if (!named)
			function = NULL;
	}
	if (function) {
		const struct locks_call call = {
			.thread = thread, .process = process, .kind = function->kind, .act = function->act,
			.time = event->time, .address = told.argument[0], .mutex = told.argument[1],
			.place = place_of(r, process, event->call, told.key, event->values),
		};
		locks_enter(&r->locks, &call);
		event->call->user[0] = 1;
	}
	meanwhile_enter(&r->locks, thread, event->call->depth, event->function->number, event->time);
}

/* Calls end, the innermost first; only the last one has what came back. */
static void leave(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process, thread = thread_of(r, event, &process);
	struct xaudit_read_call *call = event->call;

	for (uint32_t i = 0; i < event->ends && call; i++, call = call->parent) {
		meanwhile_leave(&r->locks, thread, call->depth, event->time);
		if (meaning_of(r, call->function)->ends)
			r->locks.thread[thread].ended = true;
		if (!call->user[0])
			continue;
		struct told told = { .result = LOCKS_UNKNOWN };
		bool last = i + 1 == event->ends;
		if (last)
			take_values(&told, event->values);
		locks_leave(&r->locks, thread, event->time, told.result,
			!last || event->what == XAUDIT_READ_EVENT_UNWIND);
	}
}

/* Only that it was called is recorded: it counts as if it took no time, and did what it is for. */
static void point(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process, thread = thread_of(r, event, &process);
	const struct locks_function *function = meaning_of(r, event->function)->function;
	struct told told;

	if (!function)
		return;
	take_values(&told, event->values);
	r->calls++;
	if (!told.has[0] || function->act == LOCKS_WAIT) {
		r->unnamed++;
		return;
	}
	const struct locks_call call = {
		.thread = thread, .process = process, .kind = function->kind, .act = function->act,
		.time = event->time, .address = told.argument[0],
		.place = place_of(r, process,
			&(struct xaudit_read_call){ .function = event->function, .parent = event->call }, told.key,
			event->values),
	};
	locks_enter(&r->locks, &call);
	locks_leave(&r->locks, thread, event->time, LOCKS_UNKNOWN, false);
}

/* Events are missing: of a thread, or it is not known of which. */
static void lose(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process = process_of(r, event->process);

	r->lost += event->what == XAUDIT_READ_EVENT_LOST ? event->count : 0;
	if (event->tid)
		locks_forget(&r->locks, locks_thread(&r->locks, process, event->tid));
	for (uint32_t i = 0; i < r->locks.threads && !event->tid; i++)
		if (r->locks.thread[i].process == process)
			locks_forget(&r->locks, i);
}

/* ---- objects ---- */

static void load(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process = process_of(r, event->process);

	r->load = memory_grow(r->load, r->loads, sizeof(*r->load));
	r->load[r->loads++] = (struct locks_load){
		.process = process, .number = event->load, .object = event->object, .address = event->address,
		.from = event->time, .to = XAUDIT_READ_UNKNOWN,
	};
}

static void unload(struct locks_reading *r, const struct xaudit_read_event *event)
{
	uint32_t process = process_of(r, event->process);

	for (uint32_t i = r->loads; i--;)
		if (r->load[i].process == process && r->load[i].number == event->load) {
			r->load[i].to = event->time;
			return;
		}
}

/* ---- all ---- */

void locks_read(struct locks_reading *r, struct xaudit_read_trace *trace)
{
	struct xaudit_read_events_options options = { .size = sizeof(options) };
	struct xaudit_read_error error;
	struct xaudit_read_event event;
	uint64_t now = 0;

	*r = (struct locks_reading){ .trace = trace };
	locks_begin(&r->locks);
	struct xaudit_read_events *events = memory_need(xaudit_read_events(trace, &options, &error));
	while (xaudit_read_next_event(events, &event) != XAUDIT_READ_EVENT_END) {
		/* What is damaged may go back in time; the model does not. Loads may have no time. */
		if (event.what <= XAUDIT_READ_EVENT_POINT)
			event.time = now = event.time > now ? event.time : now;
		switch (event.what) {
		case XAUDIT_READ_EVENT_ENTRY:
			enter(r, &event);
			break;
		case XAUDIT_READ_EVENT_EXIT:
		case XAUDIT_READ_EVENT_TAIL:
		case XAUDIT_READ_EVENT_UNWIND:
			leave(r, &event);
			break;
		case XAUDIT_READ_EVENT_POINT:
			point(r, &event);
			break;
		case XAUDIT_READ_EVENT_LOST:
		case XAUDIT_READ_EVENT_GONE:
			lose(r, &event);
			break;
		case XAUDIT_READ_EVENT_LOAD:
			load(r, &event);
			break;
		case XAUDIT_READ_EVENT_UNLOAD:
			unload(r, &event);
			break;
		default:
			break;
		}
	}
	show_trace_need_memory(trace);
	xaudit_read_events_close(events);
	for (uint32_t i = 0; i < r->processes; i++)
		locks_end(&r->locks, i, r->process[i].last);
}

void locks_reading_free(struct locks_reading *r)
{
	locks_free(&r->locks);
	free(r->process);
	free(r->place);
	free(r->load);
	free(r->meaning);
	hash_free(&r->by_process);
	hash_free(&r->by_place);
}
