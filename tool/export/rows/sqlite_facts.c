/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/sqlite_facts.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/term/names.h"

/* ---- the trace and its processes ---- */

static void put_trace(struct sqlite_tables *tables)
{
	const struct xaudit_read_trace_info *info = tables->export->info;

	sqlite_row(tables, SQLITE_TRACE, "ss", "version", info->version);
	sqlite_row(tables, SQLITE_TRACE, "ss", "command", info->command);
	sqlite_row(tables, SQLITE_TRACE, "ss", "status", info->status);
	sqlite_row(tables, SQLITE_TRACE, "sz", "start_real", info->start_real);
	sqlite_row(tables, SQLITE_TRACE, "si", "start_monotonic", info->start);
	sqlite_row(tables, SQLITE_TRACE, "si", "coarse", (int64_t)info->coarse);
}

void sqlite_facts_begin(struct sqlite_facts *facts, struct sqlite_tables *tables)
{
	struct export *export = tables->export;

	*facts = (struct sqlite_facts){ .tables = tables,
		.process = memory_zeroed(export->info->processes + 1u, sizeof(*facts->process)) };
	put_trace(tables);
	for (uint32_t i = 0; i < export->info->processes; i++) {
		struct xaudit_read_process *process = xaudit_read_process(export->trace, i);
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);

		char *host = export_host(process);

		facts->process[i] = process;
		sqlite_row(tables, SQLITE_PROCESSES, "iizsssiii", (int64_t)i + 1, (int64_t)info->pid,
			(uint64_t)info->parent, *host ? host : NULL, info->exe, info->command,
			export_after(export, info->start), export_after(export, info->end), info->lost);
		free(host);
	}
}

uint64_t sqlite_process(struct sqlite_facts *facts, const struct xaudit_read_process *process)
{
	uint32_t count = facts->tables->export->info->processes;

	/* Mostly the same one, or the next one. */
	for (uint32_t i = 0; i < count && facts->process[facts->recent] != process; i++)
		facts->recent = facts->recent + 1 < count ? facts->recent + 1 : 0;
	return facts->recent + 1;
}

/* ---- libraries, functions ---- */

uint64_t sqlite_library(struct sqlite_facts *facts, const struct xaudit_read_object *object)
{
	uint32_t hash = hash_key((uintptr_t)object, 0);
	uint32_t number = HASH_FIND(i, &facts->by_library, hash, facts->library[i] == object);

	if (number == HASH_NONE) {
		number = facts->libraries++;
		facts->library = memory_grow(facts->library, number, sizeof(*facts->library));
		facts->library[number] = object;
		memory_hash(&facts->by_library, hash, number);
		sqlite_row(facts->tables, SQLITE_LIBRARIES, "isss", (int64_t)number + 1, object->path, object->soname,
			object->build_id);
	}
	return number + 1;
}

static void put_functions(struct sqlite_facts *facts)
{
	struct xaudit_read_trace *trace = facts->tables->export->trace;

	for (uint32_t i = 0; i < xaudit_read_functions(trace); i++) {
		const struct xaudit_read_function *function = xaudit_read_function(trace, i);

		sqlite_row(facts->tables, SQLITE_FUNCTIONS, "isbii", (int64_t)i + 1, names_full(function->name),
			function->name, strlen(function->name), sqlite_library(facts, function->object),
			function->offset);
	}
}

/* ---- threads, tracks ---- */

static bool is_thread(const struct sqlite_thread *thread, const struct xaudit_read_process *process, uint32_t tid)
{
	return thread->process == process && thread->tid == tid;
}

uint64_t sqlite_thread(struct sqlite_facts *facts, struct xaudit_read_process *process, uint32_t tid)
{
	uint32_t hash = hash_key((uintptr_t)process, tid);

	if (facts->threads && is_thread(&facts->thread[facts->last], process, tid))
		return facts->last + 1;
	uint32_t number = HASH_FIND(i, &facts->by_thread, hash, is_thread(&facts->thread[i], process, tid));
	if (number == HASH_NONE) {
		number = facts->threads++;
		facts->thread = memory_grow(facts->thread, number, sizeof(*facts->thread));
		facts->thread[number] = (struct sqlite_thread){ process, tid };
		memory_hash(&facts->by_thread, hash, number);
	}
	facts->last = number;
	return number + 1;
}

/* The newest names, which are known only at the end. */
static void put_threads(struct sqlite_facts *facts)
{
	struct xaudit_read_trace *trace = facts->tables->export->trace;
	const char **name = memory_zeroed(facts->threads + 1u, sizeof(*name));

	for (uint32_t i = 0; i < xaudit_read_threads(trace); i++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(trace, i);
		uint32_t number = HASH_FIND(i, &facts->by_thread, hash_key((uintptr_t)thread->process, thread->tid),
			is_thread(&facts->thread[i], thread->process, thread->tid));

		if (number != HASH_NONE && *thread->name)
			name[number] = thread->name;
	}
	for (uint32_t i = 0; i < facts->threads; i++)
		sqlite_row(facts->tables, SQLITE_THREADS, "iiis", (int64_t)i + 1,
			sqlite_process(facts, facts->thread[i].process), (int64_t)facts->thread[i].tid, name[i]);
	free(name);
}

uint64_t sqlite_track(struct sqlite_facts *facts, struct export_track *track)
{
	if (!track->mark) {
		char *name = export_track_name(track);

		track->mark = track->number + 1u;
		sqlite_row(facts->tables, SQLITE_TRACKS, "iizs", track->mark,
			sqlite_thread(facts, track->process, track->tid), (uint64_t)track->stack, name);
		free(name);
	}
	return track->mark;
}

/* ---- values ---- */

static void put_frames(struct sqlite_facts *facts)
{
	struct xaudit_read_trace *trace = facts->tables->export->trace;
	uint8_t *told = NULL;
	uint32_t room = 0;

	for (uint32_t i = 0; i < xaudit_read_stacks(trace); i++) {
		const struct xaudit_read_stack *stack = xaudit_read_stack_numbered(trace, i);

		for (uint32_t level = 0; level < stack->frames; level++) {
			const struct xaudit_read_frame *frame = stack->frame[level];
			struct xaudit_read_symbol symbol = { 0 };

			sqlite_row(facts->tables, SQLITE_BACKTRACES, "iii", (int64_t)i + 1, (int64_t)level,
				(int64_t)frame->number + 1);
			if (frame->number >= room) {
				uint32_t more = frame->number * 2 + 64;

				told = memory_resize(told, more, 1);
				memset(told + room, 0, more - room);
				room = more;
			}
			if (told[frame->number])
				continue;
			told[frame->number] = 1;
			xaudit_read_frame_symbol(frame, &symbol);
			sqlite_row(facts->tables, SQLITE_FRAMES, "izissz", (int64_t)frame->number + 1,
				frame->object ? sqlite_library(facts, frame->object) : 0, frame->offset,
				names_full(symbol.name), symbol.file, (uint64_t)symbol.line);
		}
	}
	free(told);
}

static const char *role_of(const struct xaudit_read_value *value)
{
	static const char *const roles[] = { "named", "argument", "result", "errno", "request" };

	return value->role >= 0 && value->role < 5 ? roles[value->role] : "?";
}

static const char *state_of(const struct xaudit_read_value *value)
{
	static const char *const states[] = { "whole", "cut", "fault", "not read", "null", "damaged", "absent",
		"optimized out" };

	return value->state >= 0 && value->state < 8 ? states[value->state] : "?";
}

/* moment: of a call with that id; NULL: of the event at a probe. */
static void put_value(struct sqlite_facts *facts, uint64_t id, const char *moment,
	const struct xaudit_read_values *values, const struct xaudit_read_value *value)
{
	const struct xaudit_read_stack *stack;
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	char *shown = memory_zeroed(size, 1);
	uint64_t place = value->role == XAUDIT_READ_VALUE_ARGUMENT ? value->place : XAUDIT_READ_UNKNOWN;

	xaudit_read_value_text(value, shown, size);
#define BEHIND(...) \
	role_of(value), place, value->name, strlen(value->name), __VA_ARGS__, state_of(value), shown
#define PUT(type, ...)                                                                                                 \
	(moment ? sqlite_row(facts->tables, SQLITE_VALUES, "isskb" type "ss", id, moment, BEHIND(__VA_ARGS__))         \
		: sqlite_row(facts->tables, SQLITE_PROBE_VALUES, "iskb" type "ss", id, BEHIND(__VA_ARGS__)))
	if (value->state > XAUDIT_READ_VALUE_CUT) {
		PUT("k", XAUDIT_READ_UNKNOWN);
	} else {
		switch (value->type) {
		case XAUDIT_READ_VALUE_FLOAT:
		case XAUDIT_READ_VALUE_DOUBLE:
			PUT("d", value->real);
			break;
		case XAUDIT_READ_VALUE_TEXT:
			PUT("b", value->text, (size_t)value->size);
			break;
		case XAUDIT_READ_VALUE_BYTES:
		case XAUDIT_READ_VALUE_STRUCTS:
			PUT("x", value->text, (size_t)value->size);
			break;
		case XAUDIT_READ_VALUE_STACK:
			stack = xaudit_read_stack(values);
			PUT("z", stack ? stack->number + 1ul : 0ul);
			break;
		case XAUDIT_READ_VALUE_SIGNED:
		case XAUDIT_READ_VALUE_ERRNO:
			PUT("i", value->integer);
			break;
		default:
			PUT("i", value->number);
		}
	}
#undef PUT
#undef BEHIND
	free(shown);
}

static void put_values(
	struct sqlite_facts *facts, uint64_t id, const char *moment, const struct xaudit_read_values *values)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(values, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++)
		if (value[i].state != XAUDIT_READ_VALUE_ABSENT)
			put_value(facts, id, moment, values, &value[i]);
}

void sqlite_values(struct sqlite_facts *facts, const struct xaudit_read_call *call)
{
	put_values(facts, export_id(call), "entry", call->entered);
	put_values(facts, export_id(call), "end", call->ended);
}

/* ---- probes ---- */

void sqlite_probe(
	struct sqlite_facts *facts, struct export_track *track, const struct xaudit_read_item *item, uint64_t call)
{
	uint64_t id = ++facts->probe_events;

	sqlite_row(facts->tables, SQLITE_PROBE_EVENTS, "iiiiizi", id, (int64_t)item->probe->number + 1,
		sqlite_process(facts, item->process), sqlite_thread(facts, item->process, item->tid),
		sqlite_track(facts, track), call, export_after(facts->tables->export, item->time));
	if (item->values)
		put_values(facts, id, NULL, item->values);
}

static void put_probes(struct sqlite_facts *facts)
{
	struct xaudit_read_trace *trace = facts->tables->export->trace;

	for (uint32_t i = 0; i < xaudit_read_probes(trace); i++) {
		const struct xaudit_read_probe *probe = xaudit_read_probe(trace, i);
		struct xaudit_read_symbol symbol;

		xaudit_read_probe_symbol(probe, &symbol);
		sqlite_row(facts->tables, SQLITE_PROBES, "isiisk", (int64_t)i + 1, probe->name,
			sqlite_library(facts, probe->object), probe->offset,
			symbol.name ? names_full(symbol.name) : NULL,
			symbol.name ? symbol.start : XAUDIT_READ_UNKNOWN);
	}
}

/* ---- the end ---- */

void sqlite_facts_end(struct sqlite_facts *facts)
{
	put_functions(facts);
	put_probes(facts);
	put_frames(facts);
	put_threads(facts);
}

void sqlite_facts_free(struct sqlite_facts *facts)
{
	free(facts->process);
	free(facts->library);
	free(facts->thread);
	hash_free(&facts->by_library);
	hash_free(&facts->by_thread);
}
