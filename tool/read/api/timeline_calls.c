/* SPDX-License-Identifier: MIT */
#include "tool/read/api/timeline_calls.h"

#include <stdlib.h> /* qsort */

#include "tool/read/api/functions.h"
#include "tool/read/api/timeline.h"
#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"

#define BLOCK_FIRST 64 /* calls of the first allocation; each is twice the one before */

/* ---- calls ---- */

static size_t calls_of_block(uint32_t number)
{
	return (size_t)BLOCK_FIRST << (number < 16 ? number : 16);
}

void read_api_free_block(struct xaudit_read_events *e, uint32_t number)
{
	for (size_t i = 0; i < calls_of_block(number); i++) {
		free(e->block[number][i].entered);
		free(e->block[number][i].ended);
	}
	free(e->block[number]);
}

static struct event_call *new_call(struct xaudit_read_events *e)
{
	struct event_call *call = e->spare;

	if (call) {
		e->spare = call->next;
		return call;
	}
	size_t count = calls_of_block(e->blocks);
	if (!read_memory_resize(e->damage, &e->block, e->blocks + 1ul, sizeof(*e->block)))
		return NULL;
	struct event_call *block = read_memory_zeroed(e->damage, count, sizeof(*block));
	if (!block)
		return NULL;
	e->block[e->blocks++] = block;
	for (size_t i = 1; i + 1 < count; i++)
		block[i].next = &block[i + 1];
	e->spare = &block[1];
	return block;
}

/* It is free when the next event is asked for. */
static void tell(struct xaudit_read_events *e, struct event_call *call)
{
	if (!call)
		return;
	call->next = e->told;
	e->told = call;
}

void read_api_free_told(struct xaudit_read_events *e)
{
	for (struct event_call *call; (call = e->told);) {
		e->told = call->next;
		call->next = e->spare;
		e->spare = call;
	}
}

static struct xaudit_read_call *public_of(const struct read_calls *calls, const struct read_call *frame)
{
	struct event_call *call = frame > calls->frame ? frame->user : NULL;

	return call ? &call->public : NULL;
}

static struct event_call *begin_call(struct xaudit_read_events *e, uint64_t start)
{
	const struct event_thread *thread = e->thread;
	struct event_call *call = new_call(e);

	if (!call)
		return NULL;
	call->public = e->no_call;
	call->early = e->ahead;
	call->public.function = e->event->function;
	call->public.process = e->event->process;
	call->public.tid = thread->tid;
	call->public.stack = e->event->stack;
	call->public.depth = e->event->depth;
	call->public.start = start;
	call->public.entered = read_api_keep_values(e->damage, &call->entered, &e->values);
	e->event->call = &call->public;
	return call;
}

static void enter(void *user, struct read_call *frame, size_t at)
{
	struct xaudit_read_events *e = user;
	struct event_call *call = begin_call(e, frame->start);

	(void)at;
	frame->user = call;
	frame->child = 0;
	if (call)
		call->public.parent = public_of(&e->thread->on->calls, frame - 1);
}

/* A call that is open no more when it was told. */
static struct event_call *tell_alone(struct xaudit_read_events *e, enum xaudit_read_end how)
{
	const struct read_calls *calls = &e->thread->on->calls;
	struct event_call *call = begin_call(e, e->event->time);

	if (call) {
		call->public.parent = public_of(calls, calls->top);
		call->public.how = how;
		tell(e, call);
	}
	return call;
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	struct xaudit_read_events *e = user;

	(void)id;
	(void)at;
	if (e->thread->on->calls.no_memory)
		e->damage->no_memory = true;
	else
		tell_alone(e, XAUDIT_READ_NO_END);
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	struct xaudit_read_events *e = user;

	(void)id;
	(void)now;
	(void)at;
	tell_alone(e, XAUDIT_READ_POINT);
}

static enum xaudit_read_end how_of(enum read_call_end how)
{
	return how == READ_CALL_RETURNED ? XAUDIT_READ_RETURNED :
	       how == READ_CALL_JUMPED	 ? XAUDIT_READ_JUMPED :
	       how == READ_CALL_UNWOUND	 ? XAUDIT_READ_UNWOUND :
					   XAUDIT_READ_CUT;
}

static void end_call(struct xaudit_read_call *call, uint64_t children, enum xaudit_read_end how, uint64_t now)
{
	call->how = how;
	call->end = now;
	call->children = children;
	call->self = now - call->start - children;
}

static void forget_early(struct event_call *call)
{
	if (call->early)
		call->public.self = call->public.children = 0;
}

static void end(void *user, struct read_call *frame, enum read_call_end how, uint64_t now)
{
	struct xaudit_read_events *e = user;
	struct event_call *call = frame->user;

	frame[-1].child += now - frame->start;
	end_call(&call->public, frame->child, how_of(how), now);
	forget_early(call);
	if (how != READ_CALL_CUT)
		call->public.ended = read_api_keep_values(e->damage, &call->ended, &e->values);
	if (!e->event->ends++)
		e->event->call = &call->public;
	tell(e, call);
}

static void drop(void *user, struct read_call *frame)
{
	struct xaudit_read_events *e = user;
	struct event_call *call = frame->user;

	frame[-1].child += frame->child;
	call->public.children = frame->child;
	call->public.how = XAUDIT_READ_NO_END;
	forget_early(call);
	tell(e, call);
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .drop = drop, .point = point,
};

/* ---- before the first event ---- */

static void pass_enter(void *user, struct read_call *frame, size_t at)
{
	struct xaudit_read_events *e = user;

	(void)at;
	frame->row = e->thread->tid;
	frame->user = NULL;
}

static void pass_deep(void *user, uint32_t id, size_t at)
{
	struct xaudit_read_events *e = user;

	(void)id;
	(void)at;
	e->damage->no_memory |= e->thread->on->calls.no_memory;
}

static void pass_drop(void *user, struct read_call *frame)
{
	struct xaudit_read_events *e = user;
	struct event_call *call = frame->user;

	if (!call)
		return;
	call->next = e->spare;
	e->spare = call;
}

static void pass_end(void *user, struct read_call *frame, enum read_call_end how, uint64_t now)
{
	(void)how;
	(void)now;
	pass_drop(user, frame);
}

static void pass_point(void *user, uint32_t id, uint64_t now, size_t at)
{
	(void)user;
	(void)id;
	(void)now;
	(void)at;
}

static const struct read_calls_hooks passing = {
	.enter = pass_enter, .deep = pass_deep, .end = pass_end, .drop = pass_drop, .point = pass_point,
};

void read_api_pass_event(struct xaudit_read_events *e, enum trace_type type, uint32_t id, uint64_t now)
{
	read_calls_take(&e->thread->on->calls, &passing, e, type, id, now);
}

void read_api_pass_valued(struct xaudit_read_events *e, uint32_t id, uint64_t now)
{
	struct read_calls *calls = &e->thread->on->calls;
	size_t depth = read_calls_depth(calls);

	read_calls_take(calls, &passing, e, TRACE_ENTRY, id, now);
	if (read_calls_depth(calls) > depth)
		calls->top->user = begin_call(e, 0);
}

void read_api_adopt_call(struct xaudit_read_events *e, struct event_process *process,
	const struct read_stack_calls *stack, struct read_call *frame)
{
	struct xaudit_read_event *event = e->event;

	frame->start = read_clock_time(&process->process->read->clock, frame->start);
	frame->child = 0;
	if (!frame->user) {
		e->values.layout = NULL;
		event->function = read_api_function(process->process,
			read_process_function_now(process->process->read, frame->id));
		frame->user = begin_call(e, 0);
	}
	struct xaudit_read_call *call = public_of(&stack->calls, frame);
	if (!call)
		return;
	call->tid = frame->row;
	call->start = frame->start;
}

/* ---- stacks ---- */

/* The calls that are open on the stack have no end. */
static void drop_stack(void *user, struct read_stack_calls *stack)
{
	struct event_thread *thread = user;
	struct xaudit_read_events *e = thread->events;
	size_t depth = read_calls_depth(&stack->calls);

	if (!depth)
		return;
	if (e->ahead) {
		read_calls_drop(&stack->calls, &passing, e);
		return;
	}
	if (!read_memory_resize(e->damage, &e->unfinished, e->unfinished_count + 1, sizeof(*e->unfinished)))
		return;
	e->unfinished[e->unfinished_count++] = (struct xaudit_read_event){
		.what = XAUDIT_READ_EVENT_UNFINISHED,
		.tid = thread->tid,
		.process = thread->process->process,
		.call = public_of(&stack->calls, stack->calls.top),
		.depth = (uint32_t)depth,
		.stack = stack->number,
		.address = XAUDIT_READ_UNKNOWN,
		.count = depth,
	};
	read_calls_drop(&stack->calls, &hooks, e);
	stack->calls.frame->child = 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct xaudit_read_event *x = a, *y = b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void read_api_drop_thread(struct event_thread *thread)
{
	struct xaudit_read_events *e = thread->events;
	size_t before = e->unfinished_count;

	read_stacks_each(&thread->process->stacks, thread, drop_stack, thread);
	if (e->unfinished_count > before + 1)
		qsort(e->unfinished + before, e->unfinished_count - before, sizeof(*e->unfinished), by_stack);
}

/* Calls were moved from one stack to another. */
void read_api_relink(struct read_stack_calls *stack)
{
	for (struct read_call *frame = stack->calls.frame + 1; frame <= stack->calls.top; frame++) {
		struct xaudit_read_call *call = public_of(&stack->calls, frame);
		if (!call) /* it was passed over, or there is no memory */
			continue;
		call->parent = public_of(&stack->calls, frame - 1);
		call->depth = (uint32_t)(frame - stack->calls.frame) - 1;
		call->stack = stack->number;
	}
}

/* NULL: no memory. */
static struct read_stack_calls *part(struct event_thread *thread, uint32_t number, uint64_t kept)
{
	struct read_stacks *stacks = &thread->process->stacks;
	struct read_stack_calls *stack = thread->on, *other = read_stacks_enter(stacks, number, thread), *now;

	if (!other)
		return NULL;
	for (size_t i = 1, twice = read_stacks_twice(stack, other, kept); i <= twice; i++)
		tell(thread->events, stack->calls.frame[i].user);
	now = read_stacks_part(stacks, stack, number, kept, thread);
	read_stacks_leave(stacks, other);
	if (now && now != stack) {
		read_api_relink(now);
		read_api_relink(stack);
	}
	return now;
}

void read_api_change_stack(struct event_thread *thread, const struct read_merge_event *event)
{
	struct read_stacks *stacks = &thread->process->stacks;
	struct read_stack_calls *now;

	thread->events->event->before = thread->on->number;
	thread->events->event->first = event->type == READ_MERGE_STACK && !thread->stack_told;
	thread->stack_told = true;
	if (event->type == READ_MERGE_PART) {
		size_t kept = read_stacks_kept(thread->on, (uint32_t)event->count, event->own != 0);
		thread->events->event->count = kept;
		now = part(thread, event->id, kept);
	} else {
		now = read_stacks_enter(stacks, event->id, thread);
		if (now)
			read_stacks_leave(stacks, thread->on);
	}
	if (now)
		thread->on = now;
	else
		thread->events->damage->no_memory = true;
}

void read_api_change_thread(struct event_thread *thread, uint32_t tid)
{
	struct read_stacks *stacks = &thread->process->stacks;

	if (!thread->on->number)
		drop_stack(thread, thread->on);
	thread->tid = tid;
	thread->stack_told = false;
	struct read_stack_calls *now = read_stacks_enter(stacks, 0, thread);
	if (!now) {
		thread->events->damage->no_memory = true;
		return;
	}
	read_stacks_leave(stacks, thread->on);
	thread->on = now;
}

void read_api_set_open(struct xaudit_read_event *event, const struct event_thread *thread)
{
	const struct read_calls *calls = &thread->on->calls;

	event->call = public_of(calls, calls->top);
	event->depth = (uint32_t)read_calls_depth(calls);
	event->stack = thread->on->number;
}

/* ---- events of calls ---- */

void read_api_take_leaf(
	struct xaudit_read_events *e, const struct read_merge_event *from, const struct read_merge_event *end)
{
	enum xaudit_read_end how = how_of((enum read_call_end)end->type);
	struct event_call *call = tell_alone(e, how);

	if (!call)
		return;
	end_call(&call->public, 0, how, end->time);
	const struct xaudit_read_values values = read_api_values_of(e->thread->process->process, end);
	call->public.ended = read_api_keep_values(e->damage, &call->ended, &values);
	e->event->values = call->public.entered; /* the merge goes on to another event now */
	e->thread->on->calls.top->child += end->time - from->time;
}

void read_api_take_call(struct xaudit_read_events *e, const struct read_merge_event *from)
{
	read_calls_take(&e->thread->on->calls, &hooks, e, (enum trace_type)from->type, from->id, from->time);
}
