#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are parted within a page, and joined, or lie in a frame of another one: each is found, and walks from one
 * to the next come to an end.
 */
#include "t/lib/tap.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "x86_64/mirror.h"
#include "x86_64/mirror_split.h"
#include "x86_64/stack_pages.h"

#define PAGES 4
#define PARTS 24

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t low;

#define MOST (8 * PARTS) /* all structs that there are: a walk that takes more steps goes round */

/* How many walks, from the owner of a page upwards, do not end. */
static int wrong_walks(void)
{
	int wrong = 0;

	for (uint64_t page = low; page < low + PAGES * STACK_PAGE; page += STACK_PAGE) {
		const struct stack *stack = stack_pages_owner(page);
		int steps = 0;
		while (stack && stack->low < page + STACK_PAGE && steps++ < MOST)
			stack = stack->above;
		wrong += steps > MOST;
	}
	return wrong;
}

/* How many slots are not found on the stack whose range has them. */
static int not_found(struct stack *const *part, int parts)
{
	int wrong = 0;

	for (uint64_t slot = low; slot < low + PAGES * STACK_PAGE; slot += 8) {
		const struct stack *found = mirror_find(slot), *has = NULL;
		for (int i = 0; i < parts; i++)
			if (stack_has(part[i], slot))
				has = part[i];
		wrong += found != has;
	}
	return wrong;
}

/* A stack of several pages, empty; its struct is the first of `part`. */
static struct stack *begin(void)
{
	uint8_t *p = mmap(NULL, (PAGES + 2) * STACK_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + STACK_PAGE, PAGES * STACK_PAGE, PROT_READ | PROT_WRITE))
		exit(98);
	low = (uint64_t)(uintptr_t)p + STACK_PAGE;
	/* From its top downwards, as a stack grows. */
	struct stack *stack = NULL;
	for (int page = PAGES; page-- > 0;)
		stack = mirror_claim(low + page * STACK_PAGE + STACK_PAGE - 16, stack, NULL);
	if (!stack || !stack_has(stack, low + 8) || !stack_has(stack, low + PAGES * STACK_PAGE - 16))
		exit(97);
	return stack;
}

/*
 * Parts the stack at one place after the other, each `step` behind the one before. The rest, which is parted next, is
 * on the side of the step; its struct is the old one, or, where that stays with the other side, the new one.
 */
static void parts(struct stack *part[PARTS + 1], uint64_t from, int64_t step, int is_lower, const char *what)
{
	struct stack *rest = part[0] = begin();
	int wrong = 0, lost = 0;

	from += low;
	for (int i = 0; i < PARTS; i++, from += (uint64_t)step) {
		struct stack *other = mirror_split(rest, 0, from, is_lower, NULL);
		if (!other)
			exit(96);
		part[i + 1] = other;
		rest = is_lower == (step > 0) ? rest : other;
		wrong += wrong_walks();
		lost += not_found(part, i + 2);
	}
	is_int(wrong, 0, "%s: walks end", what);
	is_int(lost, 0, "and each slot is found where it is");
}

/* All within two pages. Then the thread ends: all its stacks have no calls, and this comes back. */
static void upwards(int is_lower, const char *what)
{
	struct stack *part[PARTS + 1];
	int open = 0;

	parts(part, STACK_PAGE - 512, 128, is_lower, what);
	for (int i = 0; i <= PARTS; i++)
		mirror_leave(part[i]);
	for (int i = 0; i <= PARTS; i++)
		open += stack_has_calls(part[i]);
	is_int(open, 0, "and no call is open when the thread has ended");
}

static void downwards(int is_lower, const char *what)
{
	struct stack *part[PARTS + 1];

	parts(part, 3 * STACK_PAGE - 512, -128, is_lower, what);
}

/* As a random program would: parts come, and are joined again, or go to another struct. */
static void at_random(void)
{
	struct stack *part[PARTS + 1] = { begin() };
	int parts = 1, wrong = 0, lost = 0;
	unsigned seed = 1;

	for (int turn = 0; turn < 2000; turn++) {
		unsigned r = (seed = seed * 1103515245 + 12345) >> 8;
		int i = (int)(r % (unsigned)parts);
		struct stack *stack = part[i];
		uint64_t from = stack->low + 64 + (r >> 6) % (stack->high - stack->low) / 16 * 16;
		if (r & 32 && parts <= PARTS && from + 64 < stack->high) {
			part[parts] = mirror_split(stack, 0, from, r & 16, NULL);
			parts += part[parts] != NULL;
		} else if (r & 64) {
			struct stack *other = mirror_replace(stack, NULL);
			if (other) {
				mirror_drop(stack);
				part[i] = other;
			}
		} else {
			struct stack *upper = mirror_find(stack->high);
			if (upper)
				mirror_join(stack, upper);
			if (!stack->high)
				part[i] = part[--parts];
		}
		wrong += wrong_walks();
		lost += not_found(part, parts);
	}
	is_int(wrong, 0, "in any order: walks end");
	is_int(lost, 0, "and each slot is found where it is");
}

/* ---- gaps ---- */

/* A call is open there. */
static void open_call(struct stack *stack, uint64_t slot)
{
	mirror_entry(slot)->link = (uint32_t)((stack->hot.top - slot) / 8);
	stack->hot.top = slot;
}

/* The innermost call returns. */
static void end_call(struct stack *stack)
{
	stack->hot.top += 8ull * mirror_entry(stack->hot.top)->link;
}

/* How many slots of the range are not found on the stack; or in its window, but not its own. */
static int not_on(const struct stack *stack, uint64_t from, uint64_t to)
{
	int wrong = 0;

	for (uint64_t slot = from; slot < to; slot += 8)
		wrong += mirror_find(slot) != stack || !stack_owns(stack, slot);
	for (uint64_t slot = stack->hot.low; slot < stack->hot.low + stack->hot.size; slot += 8)
		wrong += mirror_find(slot) != stack;
	return wrong;
}

static int runner; /* stands for a thread's record */

/* main's call, 16 bytes below the top; one below its frame of two pages; a coroutine's, at the top of that frame. */
static struct stack *carved(struct stack **inner, uint64_t *outer, uint64_t *slot, uint64_t *here)
{
	struct stack *stack = begin();

	stack->runner = &runner;
	*outer = low + PAGES * STACK_PAGE - 24;
	*slot = low + 520;
	*here = *outer - 264;
	open_call(stack, *outer);
	open_call(stack, *slot);
	*inner = mirror_carve(stack, *slot, *here, &runner);
	if (!*inner)
		exit(95);
	(*inner)->runner = &runner;
	return stack;
}

static void gaps(void)
{
	struct stack *inner, *part, *stack;
	uint64_t outer, slot, here, high = low + PAGES * STACK_PAGE;

	stack = carved(&inner, &outer, &slot, &here);
	high = low + PAGES * STACK_PAGE;
	ok(inner != stack && inner->number != stack->number && !stack_has_calls(inner) && stack->hot.top == slot,
		"a stack in a frame has a number of its own, and no calls; those around it stay");
	is_int(not_on(inner, inner->low, outer) + not_on(stack, low, inner->low) + not_on(stack, outer, high), 0,
		"each slot is found on its own");
	ok(inner->low > slot && inner->low <= here && !(inner->low & (STACK_PAGE - 1)) && inner->high == outer,
		"the gap begins with a page, between the two calls, and ends at the call around it");
	ok(mirror_around(inner) == stack && !mirror_around(stack) && !mirror_in_gap(stack, stack->gaps),
		"it leads to the stack around it");
	mirror_set_window(stack, outer);
	is_int(not_on(stack, outer, high) + (int)(stack->hot.low - outer), 0, "the window goes to the upper piece");
	mirror_set_window(stack, slot);

	/* It grows, below what was thought its end; and so that no page is left in between. */
	open_call(inner, here);
	uint64_t deeper = inner->low - 72;
	ok(mirror_carve(stack, slot, deeper, &runner) == inner && stack_owns(inner, deeper) &&
			not_on(inner, inner->low, outer) + not_on(stack, low, inner->low) == 0,
		"a call further down in the frame is on the same stack");
	ok(mirror_in_gap(stack, stack->gaps) == inner, "a call is open in the gap");
	ok(!mirror_carve(stack, slot, slot + 64, &runner) && mirror_find(slot + 64) == stack,
		"where the two are too near for a stack in between, nothing changes");

	/* Another thread takes the stack, and gives it back. */
	part = mirror_replace(stack, NULL);
	ok(part && mirror_around(inner) == part && not_on(part, low, inner->low) + not_on(part, outer, high) == 0 &&
			not_on(inner, inner->low, outer) == 0,
		"another struct has the stack, and the gap");
	mirror_drop(stack);
	stack = part;

	/* Two coroutines share the frame. */
	part = mirror_split(inner, 0, here - 512, 1, NULL);
	ok(part && mirror_around(part) == stack && mirror_around(inner) == stack &&
			not_on(part, part->low, part->high) + not_on(inner, inner->low, outer) == 0 &&
			not_on(stack, low, part->low) == 0,
		"two stacks share the frame");

	/* The call around the gap ends: both are gone. */
	end_call(inner);
	end_call(stack);
	end_call(stack);
	mirror_fill(stack, stack->gaps);
	ok(!stack->gaps && !inner->high && !part->high && not_on(stack, low, high) == 0, "the gap is filled again");
	is_int(wrong_walks(), 0, "and walks end");

	/* What is below the gap was another stack's; then it is the same again; then the thread ends. */
	stack = carved(&inner, &outer, &slot, &here);
	high = low + PAGES * STACK_PAGE;
	part = mirror_split(stack, slot, slot + 8, 1, NULL);
	ok(part && mirror_around(inner) == stack && !part->gaps && not_on(part, low, slot + 8) == 0 &&
			not_on(stack, slot + 8, inner->low) + not_on(stack, outer, high) == 0,
		"a stack is parted below the gap, which the upper part has");
	end_call(part);
	mirror_join(part, stack);
	ok(stack->gaps && not_on(stack, low, inner->low) + not_on(stack, outer, high) == 0,
		"the two are joined, and the gap is there");
	part = mirror_split(stack, 0, outer - 8, 0, NULL);
	ok(part && mirror_around(inner) == part && !stack->gaps && not_on(stack, low, inner->low) == 0 &&
			not_on(part, outer, high) == 0,
		"a border within the gap goes to its beginning");
	open_call(inner, here);
	mirror_leave(part);
	mirror_leave(stack);
	ok(!part->gaps && !inner->high && not_on(part, part->low, high) == 0, "at the thread's end it is filled");
	is_int(wrong_walks(), 0, "and walks end");
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
	skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
#endif
	mirror_init(memory);
	mirror_main((uint64_t)(uintptr_t)__builtin_frame_address(0));
	upwards(1, "lower parts, each above the one before");
	upwards(0, "upper parts, each above the one before");
	downwards(1, "lower parts, each below the one before");
	downwards(0, "upper parts, each below the one before");
	at_random();
	gaps();
	return done_testing();
}
