/* SPDX-License-Identifier: MIT */
#include "tool/read/events/stacks.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bucket_of(const struct read_stacks *stacks, uint32_t number, const void *record)
{
	uint64_t key = number ? number : (uint64_t)(uintptr_t)record >> 4;

	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (stacks->buckets - 1);
}

static void put(struct read_stacks *stacks, struct read_stack_calls *stack)
{
	struct read_stack_calls **bucket = &stacks->bucket[bucket_of(stacks, stack->number, stack->record)];

	stack->next = *bucket;
	*bucket = stack;
}

static bool grow(struct read_stacks *stacks)
{
	struct read_stack_calls **old = stacks->bucket, **bucket;
	uint32_t buckets = stacks->buckets, more = buckets ? 2 * buckets : 16;

	bucket = calloc(more, sizeof(*bucket));
	if (!bucket)
		return false;
	stacks->bucket = bucket;
	stacks->buckets = more;
	for (uint32_t i = 0; i < buckets; i++) {
		for (struct read_stack_calls *stack = old[i], *next; stack; stack = next) {
			next = stack->next;
			put(stacks, stack);
		}
	}
	free(old);
	return true;
}

static struct read_stack_calls *take_spare(struct read_stacks *stacks)
{
	struct read_stack_calls *stack = stacks->spare;

	if (stack) {
		stacks->spare = stack->next;
		return stack;
	}
	stack = calloc(1, sizeof(*stack));
	if (stack && !read_calls_open(&stack->calls)) {
		free(stack);
		return NULL;
	}
	return stack;
}

static struct read_stack_calls *make(struct read_stacks *stacks, uint32_t number, const void *record)
{
	struct read_stack_calls *stack;

	if ((stacks->count == stacks->buckets && !grow(stacks)) || !(stack = take_spare(stacks)))
		return NULL;
	stack->number = number;
	stack->record = record;
	stack->users = 0;
	put(stacks, stack);
	stacks->count++;
	return stack;
}

struct read_stack_calls *read_stacks_enter(struct read_stacks *stacks, uint32_t number, const void *record)
{
	struct read_stack_calls *stack = NULL;

	if (stacks->count)
		stack = stacks->bucket[bucket_of(stacks, number, record)];
	while (stack && (stack->number != number || (!number && stack->record != record)))
		stack = stack->next;
	if (!stack && !(stack = make(stacks, number, record)))
		return NULL;
	stack->record = record;
	stack->users++;
	return stack;
}

void read_stacks_leave(struct read_stacks *stacks, struct read_stack_calls *stack)
{
	struct read_stack_calls **at = &stacks->bucket[bucket_of(stacks, stack->number, stack->record)];

	if (--stack->users || read_calls_depth(&stack->calls) || stack->held)
		return;
	while (*at != stack)
		at = &(*at)->next;
	*at = stack->next;
	stacks->count--;
	stack->next = stacks->spare;
	stacks->spare = stack;
	memset(stack->calls.frame, 0, sizeof(*stack->calls.frame));
	stack->calls.frame->id = UINT32_MAX;
}

struct read_stack_calls *read_stacks_part(
	struct read_stacks *stacks, struct read_stack_calls *stack, uint32_t number, size_t kept, const void *record)
{
	struct read_stack_calls *other = read_stacks_enter(stacks, number, record);
	struct read_calls *from = &stack->calls, *to;
	size_t depth = read_calls_depth(from), moved = kept < depth ? depth - kept : 0, had;

	if (!other)
		return NULL;
	to = &other->calls;
	had = read_calls_depth(to);
	while (other != stack && read_calls_depth(to) < moved && (to->top + 1 < to->limit || read_calls_grow(to))) {
		*(to->top + 1) = from->frame[1 + read_calls_depth(to)];
		to->top++;
	}
	if (to->no_memory) {
		to->top = to->frame + had;
		read_stacks_leave(stacks, other);
		return NULL;
	}
	if (other != stack) {
		memmove(from->frame + 1, from->frame + 1 + moved, (depth - moved) * sizeof(*from->frame));
		from->top -= moved;
	}
	read_stacks_leave(stacks, stack);
	return other;
}

void read_stacks_each(struct read_stacks *stacks, const void *record,
	void (*do_it)(void *user, struct read_stack_calls *stack), void *user)
{
	for (uint32_t i = 0; i < stacks->buckets; i++)
		for (struct read_stack_calls *stack = stacks->bucket[i]; stack; stack = stack->next)
			if (!record || stack->record == record)
				do_it(user, stack);
}

static void release(struct read_stack_calls *stack)
{
	for (struct read_stack_calls *next; stack; stack = next) {
		next = stack->next;
		read_calls_close(&stack->calls);
		free(stack);
	}
}

void read_stacks_close(struct read_stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->buckets; i++)
		release(stacks->bucket[i]);
	release(stacks->spare);
	free(stacks->bucket);
	*stacks = (struct read_stacks){ 0 };
}
