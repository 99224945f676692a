/* SPDX-License-Identifier: MIT */
/* Stacks that show to be two, or one again, or to be another thread's: which struct has what. */
#include "x86_64/cpu.h"
#include "x86_64/mirror_structs.h"

uint64_t mirror_border(uint64_t slot, uint64_t here)
{
	return slot < (here & ~(PAGE - 1)) ? (slot & ~(PAGE - 1)) + PAGE : slot + 8;
}

/*
 * A stack takes the place of another one in the table, from low up to high, and as the one above what is below. One
 * that lies on two pages is met twice: the second time it leads to the stack already, whose own `above` may be the old
 * one, rightly so.
 */
static void take_place(struct stack *old, struct stack *stack, uint64_t low, uint64_t high)
{
	for (uint64_t page = (low & ~(PAGE - 1)) - PAGE; page < high; page += PAGE) {
		struct stack *first = stack_pages_owner(page);
		if (first == old) {
			stack_pages_set(page, stack);
			continue;
		}
		for (int steps = 0; first && first != stack && steps < MOST_ABOVE; steps++, first = first->above)
			if (first->above == old) {
				mirror_put_above(first, stack);
				break;
			}
	}
}

/*
 * The struct gets these calls. In the meantime the thread of one that was set aside may have entered one call more,
 * which is the innermost one then, or have left the one that was.
 */
static void take_calls(struct stack *stack, uint64_t top, uint64_t end)
{
	uint64_t late = stack->freed == STACK_ASIDE ? stack->hot.top : stack->aside;

	if (late > stack->aside && top == stack->aside)
		top = late;
	if (late < stack->aside && late < top) {
		mirror_entry(late)->link = (uint32_t)((top - late) / 8);
		top = late;
	}
	stack->end = end;
	stack->aside = stack->freed = 0;
	stack->hot.top = top;
}

void mirror_swap_numbers(struct stack *a, struct stack *b)
{
	uint32_t number = a->number;

	/* Relaxed, both: they order nothing. */
	__atomic_store_n(&a->number, b->number, __ATOMIC_RELAXED);
	__atomic_store_n(&b->number, number, __ATOMIC_RELAXED);
}

static void split_upper(struct stack *stack, uint64_t outer, uint64_t from, struct stack *upper)
{
	uint64_t high = stack->high;

	take_calls(upper, outer < high ? outer : stack->end, stack->end);
	upper->native = stack->native;
	upper->parent = stack->parent;
	upper->above = stack->above;
	mirror_begin_range(upper, from, high);
	mirror_put_above(stack, upper);
	stack->parent = upper->hot.top;
	mirror_set_range(stack, stack->low, from);
	for (uint64_t at = (from + PAGE - 1) & ~(PAGE - 1); at < high; at += PAGE)
		if (stack_pages_owner(at) == stack)
			stack_pages_set(at, upper);
}

static void split_lower(struct stack *stack, uint64_t slot, uint64_t outer, uint64_t from, struct stack *lower)
{
	uint64_t low = stack->low;

	take_calls(lower, slot ? stack->hot.top : stack->end, stack->end);
	lower->native = stack->native;
	lower->above = stack;
	mirror_begin_range(lower, low, from);
	/* A handler of the stack's thread finds the calls of both there, or those that stay. */
	if (slot)
		stack->hot.top = outer < stack->high ? outer : stack->end;
	lower->parent = outer < stack->high ? outer : stack->end;
	take_place(stack, lower, low, from);
	mirror_set_range(stack, from, stack->high);
}

struct stack *mirror_split(struct stack *stack, uint64_t slot, uint64_t from, int is_lower, struct stack *with)
{
	struct mirror_entry *entry = slot ? mirror_entry(slot) : NULL;
	uint64_t outer = slot ? slot + 8ull * entry->link : stack->hot.top;
	struct stack *other = with ? with : mirror_new();

	if (!other)
		return NULL;
	other->opener = stack->opener; /* whoever counts each part's calls finds out whose it is */
	other->tailed = stack->tailed;
	if (is_lower)
		split_lower(stack, slot, outer, from, other);
	else
		split_upper(stack, outer, from, other);
	/* Where no call stays, top may be that of the upper one: above all of the range, it is as good as the end. */
	if (entry)
		entry->link = (uint32_t)((stack->end - slot) / 8);
	return other;
}

void mirror_join(struct stack *lower, struct stack *upper)
{
	uint64_t low = lower->low;

	if (!lower->parent || lower->high != upper->low || stack_has_calls(lower) || upper->hot.top != lower->parent)
		return;
	upper->parent = 0;
	take_place(lower, upper, low, upper->low);
	mirror_set_range(upper, low, upper->high);
	mirror_give_back(lower, upper);
}

struct stack *mirror_replace(struct stack *stack, struct stack *with)
{
	uint64_t low = stack->low, high = stack->high;
	struct stack *other = with ? with : mirror_new();

	if (!other)
		return NULL;
	take_calls(other, stack->hot.top, stack->end);
	other->native = stack->native;
	other->parent = stack->parent;
	other->above = stack->above;
	other->depth = stack->depth;
	other->opener = stack->opener;
	other->tailed = stack->tailed;
	other->asked = stack->asked;
	mirror_swap_numbers(stack, other);
	mirror_begin_range(other, low, high);
	take_place(stack, other, low, high);
	stack->aside = stack->hot.top;
	mirror_end_range(stack, other);
	stack->freed = STACK_ASIDE;
	return other;
}

void mirror_drop(struct stack *stack)
{
	mirror_give_back(stack, NULL);
}

static void leave(struct stack *stack)
{
	stack->hot.top = stack->end;
	stack->depth = stack->tailed = 0;
	stack->opener = 0;
	mirror_change_number(stack);
	__atomic_store_n(&stack->runner, NULL, __ATOMIC_RELAXED); /* relaxed: it is compared only */
}

void mirror_leave(struct stack *stack)
{
	uint64_t at = stack->native <= MAIN_STACK ? 0 : stack->low & ~(PAGE - 1), end = stack->native;
	struct stack *other;

	leave(stack);
	if (!at)
		return;
	/* And what was parted from it, was a stack in one of its frames, or lies beyond a large frame. */
	for (uint64_t down = at - PAGE; (other = stack_pages_owner(down)) && other->native == end; down -= PAGE)
		leave(other);
	for (; at < end; at += PAGE) {
		other = stack_pages_owner(at);
		for (int steps = 0; other && other->low < at + PAGE && other->native == end && steps < MOST_ABOVE;
			steps++, other = other->above)
			leave(other);
	}
}
