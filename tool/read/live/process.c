/* SPDX-License-Identifier: MIT */
#include "tool/read/live/process.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/api/frames.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/trace.h"
#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"

#define OPEN 32 /* of the calls that are open, so many of the innermost ones are asked for whether they still are */

/* ---- times ---- */

/* The line through two moments goes on before and behind them. */
static uint64_t on_line(uint64_t value, uint64_t from, uint64_t to, uint64_t from_other, uint64_t to_other)
{
	bool before = value < from;

	if (to <= from)
		return from_other;
	unsigned __int128 span = (unsigned __int128)(before ? from - value : value - from) * (to_other - from_other) /
				 (to - from);
	if (before)
		return span < from_other ? from_other - (uint64_t)span : 0;
	return from_other + (uint64_t)span;
}

uint64_t live_ns(const struct read_live *live, uint64_t ticks)
{
	if (ticks < live->begin.ticks)
		return on_line(ticks, live->begin.ticks, live->now.ticks, live->begin.ns, live->now.ns);
	return live->begin.ns + (uint64_t)((unsigned __int128)(ticks - live->begin.ticks) * live->rate >> LIVE_RATE);
}

uint64_t live_ticks(const struct read_live *live, const struct live_process *process, uint64_t ticks)
{
	const struct trace_head *head = &process->read->head;

	if (head->clock == TRACE_CLOCK_TSC)
		return ticks;
	return on_line(ticks - (uint64_t)head->time_offset, live->begin.ns, live->now.ns, live->begin.ticks,
		live->now.ticks);
}

/* ---- calls ---- */

static const struct xaudit_read_function *function_of(struct live_process *process, uint32_t id)
{
	const struct read_function *function = read_process_function_now(process->read, id);
	struct read_damage *damage = process->read->family->damage;

	if (!function)
		return read_api_function(&process->wrapped, NULL);
	uint32_t index = read_process_function_index(process->read, function);
	if (index >= process->functions) {
		uint32_t functions = read_process_functions(process->read);
		if (!read_memory_resize(damage, &process->function, functions, sizeof(*process->function)))
			return NULL;
		memset(process->function + process->functions, 0,
			(functions - process->functions) * sizeof(*process->function));
		process->functions = functions;
	}
	if (!process->function[index])
		process->function[index] = read_api_function(&process->wrapped, function);
	return process->function[index];
}

static struct live_call *new_call(struct live_process *process)
{
	struct live_call *call = process->spare;

	if (call)
		process->spare = call->next;
	else
		call = read_memory_zeroed(process->read->family->damage, 1, sizeof(*call));
	return call;
}

static void free_call(struct live_process *process, struct live_call *call)
{
	call->next = process->spare;
	process->spare = call;
}

static struct xaudit_read_call *public_of(const struct read_calls *calls, const struct read_call *frame)
{
	struct live_call *call = frame > calls->frame ? frame->user : NULL;

	return call ? &call->public : NULL;
}

/* A call that begins at the event at hand. NULL: no memory. */
static struct live_call *begin_call(struct live_process *process, uint32_t id, struct xaudit_read_call *parent)
{
	const struct xaudit_read_function *function = function_of(process, id);
	struct live_call *call = function ? new_call(process) : NULL;

	if (!call)
		return NULL;
	call->public = (struct xaudit_read_call){
		.parent = parent,
		.function = function,
		.tid = process->at->tid,
		.stack = process->at->on->number,
		.depth = parent ? parent->depth + 1 : 0,
		.start = process->ns,
		.end = XAUDIT_READ_UNKNOWN,
		.cpu = XAUDIT_READ_UNKNOWN,
	};
	call->public.entered =
		read_api_keep_values(process->read->family->damage, &call->entered, &process->values);
	return call;
}

static void enter(void *user, struct read_call *frame, size_t at)
{
	struct live_process *process = user;
	struct live_call *call = begin_call(process, frame->id, public_of(&process->at->on->calls, frame - 1));

	(void)at;
	frame->user = call;
	frame->child = 0;
	if (call) {
		call->at = process->at->source.head.entry;
		call->record = process->at->source.number;
	}
	if (call && process->live->hooks->enter && process->ns >= process->live->begin.ns)
		process->live->hooks->enter(process->live->user, &process->public, &call->public);
}

/*
 * Has the call no end, since it was left out: because of its result, after others that are told of were made in it?
 * Without its chunk nobody knows.
 */
static bool is_left_out(const struct live_process *process, const struct live_call *call)
{
	struct live_record *record = call->record < process->records ? process->record[call->record] : NULL;

	return record && !read_source_has(&record->source, &call->at);
}

/* A call is over. */
static void tell(struct live_process *process, struct live_call *call, enum xaudit_read_end how)
{
	call->public.how = how;
	if (process->ns >= process->live->begin.ns)
		process->live->hooks->call(process->live->user, &process->public, &call->public);
	free_call(process, call);
}

/* One that is over when it begins. */
static void tell_alone(struct live_process *process, uint32_t id, enum xaudit_read_end how)
{
	const struct read_calls *calls = &process->at->on->calls;
	struct live_call *call = begin_call(process, id, public_of(calls, calls->top));

	if (call)
		tell(process, call, how);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	(void)at;
	tell_alone(user, id, XAUDIT_READ_NO_END);
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	(void)now;
	(void)at;
	tell_alone(user, id, XAUDIT_READ_POINT);
}

static void end(void *user, struct read_call *frame, enum read_call_end how, uint64_t now)
{
	static const enum xaudit_read_end hows[] = {
		[READ_CALL_RETURNED] = XAUDIT_READ_RETURNED,
		[READ_CALL_JUMPED] = XAUDIT_READ_JUMPED,
		[READ_CALL_UNWOUND] = XAUDIT_READ_UNWOUND,
		[READ_CALL_CUT] = XAUDIT_READ_CUT,
	};
	struct live_process *process = user;
	struct live_call *call = frame->user;
	uint64_t time;

	(void)now;
	if (!call)
		return;
	if (how == READ_CALL_CUT && is_left_out(process, call)) {
		free_call(process, call);
		return;
	}
	time = process->ns > call->public.start ? process->ns - call->public.start : 0;
	frame[-1].child += time;
	call->public.end = call->public.start + time;
	call->public.children = frame->child < time ? frame->child : time;
	call->public.self = time - call->public.children;
	if (how != READ_CALL_CUT)
		call->public.ended =
			read_api_keep_values(process->read->family->damage, &call->ended, &process->values);
	tell(process, call, hows[how]);
}

static void drop(void *user, struct read_call *frame)
{
	struct live_process *process = user;
	struct live_call *call = frame->user;

	if (call && is_left_out(process, call))
		free_call(process, call);
	else if (call)
		tell(process, call, XAUDIT_READ_NO_END);
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .drop = drop, .point = point,
};

/* ---- stacks ---- */

static void drop_stack(void *user, struct read_stack_calls *stack)
{
	read_calls_drop(&stack->calls, &hooks, user);
}

/* Calls that are open on the record's stacks have no end, as far as is known. */
static void drop_record(struct live_process *process, const struct live_record *record)
{
	read_stacks_each(&process->stacks, record, drop_stack, process);
}

static void change_stack(struct live_process *process, struct live_record *record, uint32_t number)
{
	if (record->on->number == number && number)
		return;
	struct read_stack_calls *now = read_stacks_enter(&process->stacks, number, record);
	if (!now) {
		process->live->no_memory = true;
		return;
	}
	read_stacks_leave(&process->stacks, record->on);
	record->on = now;
}

static void relink(struct read_stack_calls *stack)
{
	for (struct read_call *frame = stack->calls.frame + 1; frame <= stack->calls.top; frame++) {
		struct xaudit_read_call *call = public_of(&stack->calls, frame);
		struct xaudit_read_call *parent = public_of(&stack->calls, frame - 1);
		if (!call)
			continue;
		call->parent = parent;
		call->depth = parent ? parent->depth + 1 : 0;
		call->stack = stack->number;
	}
}

static void part_stack(struct live_process *process, struct live_record *record)
{
	const struct read_decoder *d = &record->source.decoder;
	struct read_stack_calls *stack = record->on, *now;
	size_t kept = read_stacks_kept(stack, d->calls, d->outer);
	struct read_stack_calls *other = read_stacks_enter(&process->stacks, d->stack, record);

	if (!other) {
		process->live->no_memory = true;
		return;
	}
	/* Calls that the other stack has, too, are not open twice. */
	for (size_t i = 1, twice = read_stacks_twice(stack, other, kept); i <= twice; i++)
		if (stack->calls.frame[i].user)
			free_call(process, stack->calls.frame[i].user);
	now = read_stacks_part(&process->stacks, stack, d->stack, kept, record);
	read_stacks_leave(&process->stacks, other);
	if (!now) {
		process->live->no_memory = true;
		return;
	}
	if (now != stack) {
		relink(now);
		relink(stack);
	}
	record->on = now;
}

/*
 * Open calls that were left out since they were read leave no end: what comes behind them is not called in them. If one
 * was, then before the words that were read last were written: so it is enough to look once for each block of them.
 */
static void forget_left_out(struct live_process *process, struct live_record *record)
{
	struct read_calls *calls = &record->on->calls;
	struct read_call *to = calls->top - calls->frame > OPEN ? calls->top - OPEN : calls->frame;
	bool gone = false;

	for (const struct read_call *from = to + 1; from <= calls->top; from++) {
		struct live_call *call = from->user;
		if (call && is_left_out(process, call)) {
			to->child += from->child;
			free_call(process, call);
			gone = true;
			continue;
		}
		to++;
		if (to != from)
			*to = *from;
	}
	calls->top = to;
	if (gone)
		relink(record->on);
}

/* ---- events ---- */

static void change_thread(struct live_process *process, struct live_record *record, uint32_t tid)
{
	if (!record->on->number)
		drop_stack(process, record->on);
	record->tid = tid;
	change_stack(process, record, 0);
}

/* The call of the record that began last, if it is still the innermost one. */
static void take_back(struct live_process *process, struct live_record *record)
{
	struct read_calls *calls = &record->on->calls;
	struct live_call *call = calls->top > calls->frame ? calls->top->user : NULL;

	if (!call || call->record != record->source.number || call->at.seq != record->source.head.entry.seq ||
		call->at.pos != record->source.head.entry.pos)
		return;
	free_call(process, call);
	calls->top--;
}

static void take_probe(struct live_process *process, const struct live_record *record, uint32_t id)
{
	const struct read_calls *calls = &record->on->calls;
	bool named;
	const struct xaudit_read_probe *probe = read_api_probe(&process->wrapped, id, &named);
	struct read_live_probe told = { .probe = probe, .call = public_of(calls, calls->top),
		.values = process->values.layout ? &process->values : NULL, .tid = record->tid, .time = process->ns };

	if (!probe)
		process->live->no_memory = true;
	else if (process->live->hooks->probe && process->ns >= process->live->begin.ns)
		process->live->hooks->probe(process->live->user, &process->public, &told);
}

void live_process_take(struct live_process *process, struct live_record *record)
{
	const struct read_source_event *event = &record->source.head;
	const struct read_live_hooks *to = process->live->hooks;

	process->at = record;
	process->ns = live_ns(process->live, live_ticks(process->live, process, event->ticks));
	if (record->blocks != record->source.blocks) {
		record->blocks = record->source.blocks;
		forget_left_out(process, record);
	}
	process->values = (struct xaudit_read_values){ event->layout, event->bytes, event->size, event->flawed,
		event->chain, &process->wrapped, event->ticks };
	switch (event->what) {
	case READ_SOURCE_CALL:
		read_calls_take(&record->on->calls, &hooks, process, event->type, event->id, process->ns);
		break;
	case READ_SOURCE_PROBE:
		take_probe(process, record, event->id);
		break;
	case READ_SOURCE_THREAD:
		change_thread(process, record, record->source.tid);
		break;
	case READ_SOURCE_STACK:
		change_stack(process, record, record->source.decoder.stack);
		break;
	case READ_SOURCE_PART:
		part_stack(process, record);
		break;
	case READ_SOURCE_BACK:
		take_back(process, record);
		break;
	case READ_SOURCE_CRASH:
		process->public.signal = (int)event->count;
		break;
	case READ_SOURCE_LOST:
	case READ_SOURCE_GONE:
		drop_record(process, record);
		if (process->ns >= process->live->begin.ns)
			to->lost(process->live->user, &process->public, record->tid, event->count,
				event->what == READ_SOURCE_GONE);
		break;
	}
	record->source.has = false;
}

/* ---- processes ---- */

static struct live_record *open_record(struct live_process *process, unsigned number, bool newest)
{
	struct read_damage *damage = process->read->family->damage;
	struct live_record *record = read_memory_zeroed(damage, 1, sizeof(*record));

	if (!record)
		return NULL;
	record->on = read_stacks_enter(&process->stacks, 0, record);
	if (record->on && read_source_open(&record->source, process->read, number, newest))
		return record;
	free(record);
	return NULL;
}

void live_process_look(struct live_process *process, bool newest)
{
	struct read_process *read = process->read;
	struct read_damage *damage = read->family->damage;

	read_process_list_files(read);
	if (read->threads > process->records &&
		!read_memory_resize(damage, &process->record, read->threads, sizeof(*process->record)))
		return;
	for (; process->records < read->threads; process->records++)
		process->record[process->records] = NULL;
	for (unsigned i = 0; i < process->records; i++) {
		struct live_record **record = &process->record[i];

		if (!*record && read->files[i] & (READ_FILE_EVENTS | READ_FILE_PLACES))
			*record = open_record(process, i, newest);
		if (*record)
			read_chunks_look(&(*record)->source.chunks);
	}
}

struct live_process *live_process_open(
	struct read_live *live, struct xaudit_read_trace *trace, struct read_process *read, bool newest)
{
	struct live_process *process = read_memory_zeroed(read->family->damage, 1, sizeof(*process));

	if (!process)
		return NULL;
	process->live = live;
	process->read = read;
	process->wrapped = (struct xaudit_read_process){ .trace = trace, .read = read };
	process->public = (struct read_live_process){ .pid = read->head.pid, .parent = read->head.ppid };
	read_process_begin(read);
	read_process_load(read);
	live_process_look(process, newest);
	live->hooks->began(live->user, &process->public);
	return process;
}

void live_process_end(struct live_process *process)
{
	process->ns = process->live->now.ns;
	read_stacks_each(&process->stacks, NULL, drop_stack, process);
	process->over = true;
	process->public.end = process->ns;
	process->live->hooks->ended(process->live->user, &process->public);
}

/* Nobody is told any more. */
static void forget(void *user, struct read_call *frame)
{
	if (frame->user)
		free_call(user, frame->user);
}

static void forget_stack(void *user, struct read_stack_calls *stack)
{
	read_calls_drop(&stack->calls, &(struct read_calls_hooks){ .drop = forget }, user);
}

void live_process_close(struct live_process *process)
{
	for (unsigned i = 0; i < process->records; i++) {
		if (process->record[i])
			read_source_close(&process->record[i]->source);
		free(process->record[i]);
	}
	read_stacks_each(&process->stacks, NULL, forget_stack, process);
	read_stacks_close(&process->stacks);
	for (struct live_call *call; (call = process->spare);) {
		process->spare = call->next;
		free(call->entered);
		free(call->ended);
		free(call);
	}
	free(process->record);
	free(process->function);
	read_api_free_keys(&process->wrapped);
	read_api_free_probe_ids(&process->wrapped);
	free(process);
}
