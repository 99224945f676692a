/* SPDX-License-Identifier: MIT */
/* Stacks that show to be two, or one again, or to be another thread's: which struct has what. */
#include "x86_64/mirror_split.h"

#include "x86_64/cpu.h"
#include "x86_64/mirror_structs.h"

uint64_t mirror_border(uint64_t slot, uint64_t here)
{
	return slot < (here & ~(PAGE - 1)) ? (slot & ~(PAGE - 1)) + PAGE : slot + 8;
}

static void take_page(struct stack *old, struct stack *stack, uint64_t page)
{
	struct stack *first = stack_pages_owner(page);

	if (first == old) {
		stack_pages_set(page, stack);
		return;
	}
	for (int steps = 0; first && first != stack && steps < MOST_ABOVE; steps++, first = first->above)
		if (first->above == old) {
			mirror_put_above(first, stack);
			return;
		}
}

/*
 * A stack takes the place of another one in the table, from low up to high, and as the one above what is below. One
 * that lies on two pages is met twice: the second time it leads to the stack already, whose own `above` may be the old
 * one, rightly so.
 */
static void take_place(struct stack *old, struct stack *stack, uint64_t low, uint64_t high)
{
	for (uint64_t page = (low & ~(PAGE - 1)) - PAGE; page < high; page += PAGE)
		take_page(old, stack, page);
}

/*
 * The struct gets these calls. In the meantime the thread of one that was set aside may have entered one call more,
 * which is the innermost one then, or have left the one that was.
 */
static void take_calls(struct stack *stack, uint64_t top, uint64_t end)
{
	uint64_t late = stack->hot.top;

	if (stack->freed == STACK_ASIDE && late > stack->aside && top == stack->aside)
		top = late;
	if (stack->freed == STACK_ASIDE && late < stack->aside && late < top) {
		mirror_entry(late)->link = (uint32_t)((top - late) / 8);
		top = late;
	}
	stack->end = end;
	stack->parent = stack->freed = 0;
	stack->hot.top = top;
}

void mirror_swap_numbers(struct stack *a, struct stack *b)
{
	uint32_t number = a->number;

	/* Relaxed, both: they order nothing. */
	__atomic_store_n(&a->number, b->number, __ATOMIC_RELAXED);
	__atomic_store_n(&b->number, number, __ATOMIC_RELAXED);
}

/* The other one gets the gaps from `from` on. */
static void give_gaps(struct stack *stack, uint64_t from, struct stack *other)
{
	struct stack **place = &stack->gaps;

	while (*place && (*place)->low < from)
		place = &(*place)->above;
	other->gaps = *place;
	*place = NULL;
}

static void split_upper(struct stack *stack, uint64_t outer, uint64_t from, struct stack *upper)
{
	uint64_t high = stack->high;

	take_calls(upper, outer < high ? outer : stack->end, stack->end);
	upper->native = stack->native;
	upper->parent = stack->parent;
	upper->above = stack->above;
	give_gaps(stack, from, upper);
	mirror_begin_range(upper, from, high);
	mirror_put_above(stack, upper);
	stack->parent = upper->hot.top;
	mirror_set_range(stack, stack->low, from);
	/* Not the page that both share: the list of that one begins below. */
	for (uint64_t at = (from + PAGE - 1) & ~(PAGE - 1); at < high; at += PAGE)
		take_page(stack, upper, at);
}

static void split_lower(struct stack *stack, uint64_t slot, uint64_t outer, uint64_t from, struct stack *lower)
{
	uint64_t low = stack->low;

	take_calls(lower, slot ? stack->hot.top : stack->end, stack->end);
	lower->native = stack->native;
	lower->above = stack;
	/* The lower gaps are the lower part's. */
	give_gaps(stack, from, lower);
	struct stack *upper_gaps = lower->gaps;
	lower->gaps = stack->gaps;
	stack->gaps = upper_gaps;
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
	/* A gap between the two is the upper part's. */
	for (const struct stack *gap = stack->gaps; gap; gap = gap->above)
		if (gap->low < from && from < gap->high)
			from = gap->low;
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
	struct stack **place = &lower->gaps;
	while (*place)
		place = &(*place)->above;
	*place = upper->gaps;
	upper->gaps = lower->gaps;
	lower->gaps = NULL;
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
	other->gaps = stack->gaps;
	stack->gaps = NULL;
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

/* ---- gaps ---- */

void mirror_set_window(struct stack *stack, uint64_t slot)
{
	uint64_t low = stack->low, high = stack->high;

	for (struct stack **place = &stack->gaps; *place;) {
		const struct stack *gap = *place;
		if (gap->low <= slot && slot < gap->high) {
			mirror_drop_gap(place);
			continue;
		}
		if (gap->high <= slot)
			low = gap->high;
		else if (high > gap->low)
			high = gap->low;
		place = &(*place)->above;
	}
	/* Empty in between, lest a mixture of both has a gap. */
	mirror_put(&stack->hot.size, 0);
	mirror_put(&stack->hot.low, low);
	mirror_put(&stack->hot.size, high > low ? high - low : 0);
}

#define LEAST_STACK 2048 /* no array is made for a smaller one */
#define GROWN_MOST  (4 * PAGE) /* below the innermost call of a stack in a frame, the next one may be its own */

/* The first page's beginning at or above the middle between the two, or the last one below; 0: there is none. */
static uint64_t page_between(uint64_t slot, uint64_t here)
{
	uint64_t page = (slot + (here - slot) / 2 + PAGE - 1) & ~(PAGE - 1);

	if (page > here)
		page = here & ~(PAGE - 1);
	return page > slot ? page : 0;
}

static void give_pages(struct stack *from, struct stack *to, uint64_t low, uint64_t high)
{
	for (uint64_t page = low; page < high; page += PAGE)
		if (stack_pages_owner(page) == from)
			stack_pages_set(page, to);
}

struct stack *mirror_carve(struct stack *stack, uint64_t slot, uint64_t here, const void *runner)
{
	uint64_t outer = slot + 8ull * mirror_entry(slot)->link, to = outer < stack->high ? outer : stack->high;
	uint64_t from = page_between(slot, here);
	struct stack **place = &stack->gaps, *gap, *inner;

	while (*place && (*place)->high <= slot)
		place = &(*place)->above;
	gap = *place;
	if (!from || to <= here || here - slot < LEAST_STACK)
		return NULL;
	if (gap && gap->low < to) {
		/* The stack that begins there has grown, or another one is below it. */
		to = gap->low;
		inner = mirror_find(to);
		if (inner && inner != stack && inner->runner == runner && inner->low == to && stack_has_calls(inner) &&
			inner->hot.top - here <= GROWN_MOST) {
			gap->low = from;
			mirror_set_window(stack, slot);
			mirror_set_range(inner, from, inner->high);
			give_pages(stack, inner, from, to);
			return inner;
		}
	}
	inner = mirror_new();
	gap = inner ? mirror_new() : NULL;
	if (!gap) {
		if (inner)
			mirror_give_back(inner, NULL);
		return NULL;
	}
	gap->freed = STACK_GAP;
	gap->low = from;
	gap->high = to;
	gap->above = *place;
	*place = gap;
	mirror_set_window(stack, slot);
	inner->end = inner->hot.top = stack->end;
	inner->native = stack->native;
	inner->parent = outer;
	inner->above = stack;
	mirror_begin_range(inner, from, to);
	give_pages(stack, inner, from, to);
	return inner;
}

struct stack *mirror_in_gap(const struct stack *stack, const struct stack *gap)
{
	for (uint64_t page = gap->low; page < gap->high; page += PAGE) {
		struct stack *inner = stack_pages_owner(page);
		for (int steps = 0; inner && inner != stack && steps < MOST_ABOVE; steps++, inner = inner->above)
			if (inner->low >= gap->low && inner->high <= gap->high && stack_has_calls(inner))
				return inner;
	}
	return NULL;
}

struct stack *mirror_around(const struct stack *stack)
{
	struct stack *around = stack->above;

	for (int steps = 0; around && steps < MOST_ABOVE; steps++, around = around->above)
		if (around->low <= stack->low && around->high >= stack->high)
			return around;
	return NULL;
}

void mirror_fill(struct stack *stack, struct stack *gap)
{
	struct stack **place = &stack->gaps;

	for (uint64_t page = gap->low; page < gap->high; page += PAGE) {
		struct stack *inner = stack_pages_owner(page), *next;
		if (inner == stack)
			continue;
		stack_pages_set(page, stack);
		for (int steps = 0; inner && inner != stack && steps < MOST_ABOVE; steps++, inner = next) {
			next = inner->above;
			if (inner->high && inner->low >= gap->low && inner->high <= gap->high)
				mirror_give_back(inner, stack);
		}
	}
	while (*place && *place != gap)
		place = &(*place)->above;
	if (*place)
		mirror_drop_gap(place);
	mirror_set_window(stack, stack->hot.low);
}

/* ---- a thread's end ---- */

static void leave(struct stack *stack)
{
	while (stack->gaps)
		mirror_fill(stack, stack->gaps);
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
