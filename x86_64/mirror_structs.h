/* SPDX-License-Identifier: MIT */
/*
 * How a struct stack changes while others read it (the top of mirror.h has the order), for mirror.c and mirror_split.c
 * alone. All: process lock held, async-signal-safe, no libc.
 */
#ifndef XAUDIT_MIRROR_STRUCTS_H
#define XAUDIT_MIRROR_STRUCTS_H

#include "format/trace.h"
#include "x86_64/mirror.h"
#include "x86_64/mirror_split.h"
#include "x86_64/stack_pages.h"

#define PAGE	   STACK_PAGE
#define MOST_ABOVE 256 /* a few stacks share a page: no walk along `above` goes on for longer, whatever it meets */

/* Values of stack.freed beside rounds. */
#define STACK_UNUSED (~0ull)	 /* in the list */
#define STACK_ASIDE  (~0ull - 1) /* see mirror_replace() */
#define STACK_GAP    (~0ull - 2) /* a gap of another one */

extern uint64_t mirror_round; /* counts how often all stacks were looked at */

/*
 * One of the words that others read. Relaxed, but in the order of the code: the processor keeps that for stores, and
 * the fence makes the compiler keep it.
 */
static inline void mirror_put(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED); /* relaxed, as said */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	 /* no partner */
}

/* Sets the stack above. Release; pairs with the acquire in mirror_find(): the range of `above` is set. */
static inline void mirror_put_above(struct stack *stack, struct stack *above)
{
	__atomic_store_n(&stack->above, above, __ATOMIC_RELEASE);
}

/* Another range, of which some was the stack's before. */
static inline void mirror_set_range(struct stack *stack, uint64_t low, uint64_t high)
{
	uint64_t least = high > low ? high - low : 0;

	if (stack->gaps) {
		mirror_put(&stack->low, low);
		mirror_put(&stack->high, high);
		mirror_set_window(stack, stack->hot.low);
		return;
	}
	if (least < stack->hot.size)
		mirror_put(&stack->hot.size, least);
	mirror_put(&stack->hot.low, low);
	mirror_put(&stack->low, low);
	mirror_put(&stack->high, high);
	mirror_put(&stack->hot.size, least);
}

/* The first range of a struct that has none. */
static inline void mirror_begin_range(struct stack *stack, uint64_t low, uint64_t high)
{
	mirror_put(&stack->hot.size, stack->gaps ? 0 : high - low); /* the thread that comes sets the window */
	mirror_put(&stack->low, low);
	mirror_put(&stack->high, high);
	mirror_put(&stack->hot.low, low);
}

/* Nothing is the stack's any more. Who comes by way of it finds the heir. */
static inline void mirror_end_range(struct stack *stack, struct stack *heir)
{
	mirror_put(&stack->hot.size, 0);
	mirror_put(&stack->hot.low, ~0ull);
	mirror_put(&stack->low, 0);
	mirror_put(&stack->high, 0);
	mirror_put_above(stack, heir);
}

/* What lies in a gap is a stack as any other. `place` leads to the gap. */
static inline void mirror_drop_gap(struct stack **place)
{
	struct stack *gap = *place;

	*place = gap->above;
	gap->low = gap->high = 0;
	gap->above = NULL;
	gap->freed = mirror_round;
}

/* Nor will it be soon. */
static inline void mirror_give_back(struct stack *stack, struct stack *heir)
{
	while (stack->gaps)
		mirror_drop_gap(&stack->gaps);
	mirror_end_range(stack, heir);
	stack->freed = mirror_round;
}

/* A thread that comes to the stack from here on has no calls there yet. */
static inline void mirror_change_number(struct stack *stack)
{
	uint32_t number = (stack->number + (1u << TRACE_STACK_BITS)) & TRACE_ID_MASK;

	__atomic_store_n(&stack->number, number, __ATOMIC_RELAXED); /* relaxed: it orders nothing */
}

#endif
