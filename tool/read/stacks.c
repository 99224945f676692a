/* SPDX-License-Identifier: MIT */
#include "tool/read/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

static uint32_t bucket_of(const struct stacks *stacks, uint32_t number, const void *record)
{
	uint64_t key = number ? number : (uint64_t)(uintptr_t)record >> 4;

	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (stacks->buckets - 1);
}

static void put(struct stacks *stacks, struct stack_calls *stack)
{
	struct stack_calls **bucket = &stacks->bucket[bucket_of(stacks, stack->number, stack->record)];

	stack->next = *bucket;
	*bucket = stack;
}

static void grow(struct stacks *stacks)
{
	struct stack_calls **old = stacks->bucket;
	uint32_t buckets = stacks->buckets;

	stacks->buckets = buckets ? 2 * buckets : 16;
	stacks->bucket = memory_zeroed(stacks->buckets, sizeof(struct stack_calls *));
	for (uint32_t i = 0; i < buckets; i++) {
		for (struct stack_calls *stack = old[i], *next; stack; stack = next) {
			next = stack->next;
			put(stacks, stack);
		}
	}
	free(old);
}

static struct stack_calls *make(struct stacks *stacks, uint32_t number, const void *record)
{
	struct stack_calls *stack = stacks->spare;

	if (stacks->count == stacks->buckets)
		grow(stacks);
	if (stack) {
		stacks->spare = stack->next;
	} else {
		stack = memory_zeroed(1, sizeof(*stack));
		calls_open(&stack->calls);
	}
	stack->number = number;
	stack->record = record;
	stack->users = 0;
	put(stacks, stack);
	stacks->count++;
	return stack;
}

struct stack_calls *stacks_enter(struct stacks *stacks, uint32_t number, const void *record)
{
	struct stack_calls *stack = NULL;

	if (stacks->count)
		stack = stacks->bucket[bucket_of(stacks, number, record)];
	while (stack && (stack->number != number || (!number && stack->record != record)))
		stack = stack->next;
	if (!stack)
		stack = make(stacks, number, record);
	stack->record = record;
	stack->users++;
	return stack;
}

void stacks_leave(struct stacks *stacks, struct stack_calls *stack)
{
	struct stack_calls **at = &stacks->bucket[bucket_of(stacks, stack->number, stack->record)];

	if (--stack->users || calls_depth(&stack->calls))
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

struct stack_calls *stacks_part(
	struct stacks *stacks, struct stack_calls *stack, uint32_t number, size_t kept, const void *record)
{
	struct stack_calls *other = stacks_enter(stacks, number, record);
	struct calls *from = &stack->calls, *to = &other->calls;
	size_t depth = calls_depth(from), moved = kept < depth ? depth - kept : 0;

	while (other != stack && calls_depth(to) < moved && (to->top + 1 < to->limit || calls_grow(to))) {
		*(to->top + 1) = from->frame[1 + calls_depth(to)];
		to->top++;
	}
	if (other != stack) {
		memmove(from->frame + 1, from->frame + 1 + moved, (depth - moved) * sizeof(*from->frame));
		from->top -= moved;
	}
	stacks_leave(stacks, stack);
	return other;
}

void stacks_each(struct stacks *stacks, const void *record, void (*do_it)(void *user, struct stack_calls *stack),
	void *user)
{
	for (uint32_t i = 0; i < stacks->buckets; i++)
		for (struct stack_calls *stack = stacks->bucket[i]; stack; stack = stack->next)
			if (!record || stack->record == record)
				do_it(user, stack);
}

static void release(struct stack_calls *stack)
{
	for (struct stack_calls *next; stack; stack = next) {
		next = stack->next;
		calls_close(&stack->calls);
		free(stack);
	}
}

void stacks_close(struct stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->buckets; i++)
		release(stacks->bucket[i]);
	release(stacks->spare);
	free(stacks->bucket);
	*stacks = (struct stacks){ 0 };
}
