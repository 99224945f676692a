/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_stacks.h"

#include <stdlib.h> /* qsort */

#include "tool/read/api/cursor_ahead.h"
#include "tool/read/api/cursor_items.h"
#include "tool/read/api/cursor_requests.h"
#include "tool/read/damage/memory.h"
#include "tool/read/sched/sched_cursor.h"

void read_api_open_again(struct api_call *call, struct api_call *parent)
{
	struct api_call *outer = call->slot->open;

	call->outer = outer;
	call->around = outer && outer->left_out ? outer->around : outer;
	call->public.recursion = outer ? outer->public.recursion + 1 : 0;
	call->public.parent = parent ? &parent->public : NULL;
	call->public.depth = parent ? parent->public.depth + 1 : 0;
	call->slot->open = call;
}

void read_api_take_up(struct xaudit_read_calls *c, struct read_stack_calls *stack)
{
	struct api_call *parent = NULL;

	c->stack = stack;
	read_turns_take_up(c->record, stack, &c->calls, c->sched);
	for (struct read_call *frame = c->calls.frame + 1; frame <= c->calls.top; frame++) {
		if (frame->user)
			read_api_open_again(frame->user, parent);
		else
			c->passed = true;
		parent = frame->user;
	}
}

void read_api_lay_down(struct xaudit_read_calls *c)
{
	for (struct read_call *frame = c->calls.frame + 1; frame <= c->calls.top; frame++)
		if (frame->user)
			((struct api_call *)frame->user)->slot->open = NULL;
	read_turns_lay_down(c->record, c->stack, &c->calls, c->sched);
	c->stack = NULL;
}

/* The calls that are open on the stack have no end. */
static void drop_stack(void *user, struct read_stack_calls *stack)
{
	struct xaudit_read_calls *c = user;

	read_api_take_up(c, stack);
	read_api_drop_calls(c);
	read_api_lay_down(c);
}

static void list_stack(void *user, struct read_stack_calls *stack)
{
	struct xaudit_read_calls *c = user;

	if (read_calls_depth(&stack->calls) &&
		read_memory_resize(c->damage, &c->dropped, c->drops + 1ul, sizeof(*c->dropped)))
		c->dropped[c->drops++] = stack;
}

static int by_number(const void *a, const void *b)
{
	const struct read_stack_calls *x = *(struct read_stack_calls *const *)a,
				      *y = *(struct read_stack_calls *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* In the order of the stacks' numbers, so that a trace is told in one way only. */
void read_api_drop(struct xaudit_read_calls *c, struct read_turns_record *record)
{
	struct read_stack_calls *stack = record->stack;

	c->record = record;
	c->drops = 0;
	read_stacks_each(&c->stacks, record, list_stack, c);
	read_stacks_each(&c->stacks, record, read_api_request_drop, c);
	if (c->drops > 1)
		qsort(c->dropped, c->drops, sizeof(*c->dropped), by_number);
	for (uint32_t i = 0; i < c->drops; i++)
		drop_stack(c, c->dropped[i]);
	record->stack = stack;
}

/* Calls were moved from one stack to another. */
static void relink(struct read_stack_calls *stack)
{
	for (struct read_call *frame = stack->calls.frame + 1; frame <= stack->calls.top; frame++) {
		struct api_call *call = frame->user;
		struct api_call *parent = frame - 1 > stack->calls.frame ? frame[-1].user : NULL;
		if (!call)
			continue;
		call->public.parent = parent ? &parent->public : NULL;
		call->public.depth = parent ? parent->public.depth + 1 : 0;
		call->public.stack = stack->number;
	}
}

/* NULL: no memory. */
static struct read_stack_calls *part(struct xaudit_read_calls *c, struct read_stack_calls *stack)
{
	const struct read_decoder *d = &c->record->source.decoder;
	struct read_stack_calls *other = read_stacks_enter(&c->stacks, d->stack, c->record);
	size_t kept = read_stacks_kept(stack, d->calls, d->outer);

	if (!other)
		return NULL;
	for (size_t i = read_stacks_twice(stack, other, kept); i; i--)
		read_api_give_up(c, stack->calls.frame[i].user, d->now);
	/* The calls that it gets count by the old stack's clock; of its own ones nothing is known then. */
	if (other != stack) {
		other->unknown = read_calls_depth(&other->calls) ? d->now : stack->unknown;
		other->on = stack->on;
	}
	struct read_stack_calls *now = read_stacks_part(&c->stacks, stack, d->stack, kept, c->record);
	read_stacks_leave(&c->stacks, other);
	if (now && now != stack) {
		/* What was begun outside of all calls was begun where the outermost ones are. */
		if (!now->held) {
			now->held = stack->held;
			stack->held = NULL;
		}
		relink(now);
		if (stack->users || read_calls_depth(&stack->calls))
			relink(stack);
	}
	return now;
}

void read_api_switch_stack(struct xaudit_read_calls *c, enum read_decoded what)
{
	struct read_turns_record *record = c->record;
	struct read_stack_calls *stack = c->stack, *next = stack;

	read_api_lay_down(c);
	if (what == READ_DECODED_THREAD && c->sched)
		read_sched_begin(&record->on.cursor, c->sched, c->process->read, record->source.decoder.tid);
	if (what == READ_DECODED_THREAD && !stack->number) { /* on other stacks another thread may go on */
		drop_stack(c, stack);
		read_api_request_drop(c, stack);
	}
	if (what == READ_DECODED_PART) {
		next = part(c, stack);
	} else if (what == READ_DECODED_THREAD || what == READ_DECODED_STACK) {
		next = read_stacks_enter(&c->stacks, record->source.decoder.stack, record);
		if (next)
			read_stacks_leave(&c->stacks, stack);
	} else {
		read_api_drop(c, record);
	}
	if (!next)
		c->damage->no_memory = c->ready = true;
	read_api_take_up(c, next ? next : stack);
	if (!read_api_is_ahead(c))
		read_api_adopt(c);
}
