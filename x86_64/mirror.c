/* SPDX-License-Identifier: MIT */
#include "x86_64/mirror.h"

#include <linux/futex.h> /* FUTEX_CMP_REQUEUE_PRIVATE */
#include <stdbool.h>
#include <sys/mman.h>	 /* MAP_NORESERVE */

#include "format/trace.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/mirror_structs.h"
#include "x86_64/sys.h"

#define FAR	   (8ul << 30) /* from a stack's first slot to `end`: a distance that a link can hold */
#define NEAR	   (4 * PAGE)
#define NEAR_LAST  (16 * PAGE)	/* of the stack that the thread used last */
#define GROWN_MAX  (64ul << 20) /* no stack's frame is larger */
#define LOOKED_AT  4		/* stacks, for each new one */

_Static_assert(FAR / 8 <= UINT32_MAX, "a link holds it");

static void *(*more)(size_t size); /* NULL: before mirror_init() */
static int forbidden;
static uint64_t main_address;

struct stack *mirror_find(uint64_t slot)
{
	struct stack *stack = stack_pages_owner(slot);

	/*
	 * Acquire; pairs with the release in mirror_put_above(). A few share a page; more steps come only when the list
	 * changed under us. The first that has the slot: stacks in a gap come before the one around it.
	 */
	for (int steps = 0; stack && steps < MOST_ABOVE;
		steps++, stack = __atomic_load_n(&stack->above, __ATOMIC_ACQUIRE))
		/* Relaxed, both: trampolines look at hot. */
		if (slot < __atomic_load_n(&stack->high, __ATOMIC_RELAXED) &&
			slot >= __atomic_load_n(&stack->low, __ATOMIC_RELAXED))
			return stack;
	return NULL;
}

/* ---- structs ---- */

#define BLOCK_STACKS 32
#define MAX_BLOCKS   65535 /* two million stacks at once */

_Static_assert(BLOCK_STACKS * MAX_BLOCKS < 1 << TRACE_STACK_BITS, "numbers from 1 on");

#define PREPARED 9 /* pieces: 8 MiB is the usual limit of a stack */

static struct stack *blocks[MAX_BLOCKS] SYS_LARGE;
static uint32_t stack_count, hand;
uint64_t mirror_round = 1;
static struct stack *unused; /* by above */

static struct stack *stack_at(uint32_t n)
{
	return &blocks[n / BLOCK_STACKS][n % BLOCK_STACKS];
}

void mirror_each(void (*do_it)(struct stack *stack, void *context), void *context)
{
	for (uint32_t n = 0; n < stack_count; n++)
		if (!stack_at(n)->freed)
			do_it(stack_at(n), context);
}

struct stack *mirror_new(void)
{
	struct stack *stack = unused;

	if (stack) {
		unused = stack->above;
		mirror_change_number(stack);
		stack->above = stack->gaps = NULL;
		stack->parent = stack->native = stack->freed = 0;
		stack->depth = stack->asked = stack->tailed = 0;
		stack->opener = 0;
		stack->runner = NULL;
		return stack;
	}
	if (stack_count == MAX_BLOCKS * BLOCK_STACKS)
		return NULL;
	struct stack **block = &blocks[stack_count / BLOCK_STACKS];
	if (!*block && confined())
		return NULL;
	if (!*block) {
		uintptr_t p = more ? (uintptr_t)more((BLOCK_STACKS + 1) * sizeof(**block)) : 0;
		if (!p)
			return NULL;
		*block = (struct stack *)((p + sizeof(**block) - 1) &
					  ~(sizeof(**block) - 1));
	}
	stack = stack_at(stack_count++);
	stack->number = stack_count;
	stack->hot.low = ~0ull;
	return stack;
}

bool mirror_is_readable(uint64_t address)
{
	/* The kernel reads the mask before it looks at the first argument, which is no value that it knows. */
	return sys_call(__NR_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) != -EFAULT;
}

bool mirror_holds(uint64_t address, uint32_t value)
{
	/* No thread waits there, so none is woken or moved. */
	return !sys_call(__NR_futex, (long)address, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)address, value);
}

/* ---- giving back ---- */

/*
 * Are all these pages mapped, and a stack? The kernel tells how much is in memory, or that a part is no mapping. Where
 * no call is open, memory that can't be read is a stack no more either: it waits in a pool.
 */
static bool is_there(const struct stack *stack, uint64_t low, uint64_t high)
{
	uint8_t in_memory[256];

	for (uint64_t at = low; at < high; at += sizeof(in_memory) * PAGE) {
		uint64_t size = high - at < sizeof(in_memory) * PAGE ? high - at : sizeof(in_memory) * PAGE;
		if (sys_call(__NR_mincore, (long)at, (long)size, (long)in_memory, 0, 0, 0) == -ENOMEM)
			return false;
	}
	return low == high || stack_has_calls(stack) || mirror_is_readable(high - 8);
}

/* Takes the stack out of the page's entry; others that have a part of it stay. */
static void leave_page(struct stack *stack, uint64_t page)
{
	struct stack *first = stack_pages_owner(page);

	if (first == stack) {
		struct stack *next = stack->above;
		stack_pages_set(page, next && next->low < page + PAGE && next->high > page ? next : NULL);
		return;
	}
	for (int steps = 0; first && steps < MOST_ABOVE; steps++, first = first->above)
		if (first->above == stack) {
			mirror_put_above(first, stack->above);
			return;
		}
}

/* Pages low ... high-1 at one end of the stack are not mapped any more, as it seems. */
static void cut(struct stack *stack, uint64_t low, uint64_t high)
{
	uint64_t old_low = stack->low, old_high = stack->high;
	int all = low <= old_low && high >= old_high, kept = 0;

	for (struct stack **place = &stack->gaps; *place;)
		if ((*place)->low < high && (*place)->high > low)
			mirror_drop_gap(place);
		else
			place = &(*place)->above;
	if (all) {
		mirror_put(&stack->hot.size, 0);
		mirror_put(&stack->low, old_high); /* nothing is found there */
	} else {
		mirror_set_range(stack, low <= old_low ? high : old_low, low <= old_low ? old_high : low);
	}
	for (uint64_t page = low; page < high; page += PAGE)
		leave_page(stack, page);
	/*
	 * Pairs with the kernel's lock of the address space: a thread that maps these pages after our question sees
	 * what was stored before it.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint64_t page = low; page < high; page += PAGE) {
		if (stack_pages_owner(page))
			continue;
		if (!is_there(stack, page, page + PAGE)) {
			stack_pages_drop(page);
			continue;
		}
		/* A thread mapped it meanwhile: it stays a stack, the same or another one. */
		stack_pages_set(page, stack);
		kept = 1;
	}
	if (kept)
		mirror_set_range(stack, old_low, old_high);
	else if (all)
		mirror_give_back(stack, NULL);
	if (stack->hot.top >= stack->high)
		stack->hot.top = stack->end;
}

static void look_at(struct stack *stack)
{
	uint64_t low = stack->low & ~(PAGE - 1), high = (stack->high + PAGE - 1) & ~(PAGE - 1), at;

	if (is_there(stack, low, high))
		return;
	for (at = low; at < high && !is_there(stack, at, at + PAGE); at += PAGE)
		;
	if (at > low)
		cut(stack, low, at);
	if (at == high)
		return;
	for (at = high; at > low && !is_there(stack, at - PAGE, at); at -= PAGE)
		;
	if (at < high)
		cut(stack, at, high);
}

static void look_at_some(void)
{
	if (confined())
		return;
	for (int i = 0; i < LOOKED_AT && stack_count; i++) {
		if (hand >= stack_count) {
			hand = 0;
			mirror_round++;
		}
		struct stack *stack = stack_at(hand++);
		if (!stack->freed) {
			look_at(stack);
		} else if (stack->freed < STACK_GAP && mirror_round - stack->freed >= 2) {
			stack->freed = STACK_UNUSED;
			stack->above = unused;
			unused = stack;
		}
	}
}

/* ---- which stack ---- */

/* No guard page between the pages of two slots? Those can be read. */
static bool is_contiguous(uint64_t low, uint64_t high)
{
	low = (low & ~(PAGE - 1)) + PAGE;
	high &= ~(PAGE - 1);
	if (low >= high)
		return true;
	if (high - low > GROWN_MAX)
		return false;
	for (; low < high; low += PAGE)
		if (!mirror_is_readable(low))
			return false;
	return true;
}

/* Are all pages from the slot's up to high no stack's? */
static bool is_free(uint64_t slot, uint64_t high)
{
	for (uint64_t at = slot; at < high; at += PAGE)
		if (stack_pages_owner(at))
			return false;
	return true;
}

/*
 * The value of stack.native for a new stack: the thread's own stack would have been extended, so it is not known yet.
 */
static uint64_t native(uint64_t slot, uint64_t block)
{
	if (slot < block && block - slot <= GROWN_MAX && is_free(slot, block) && is_contiguous(slot, block))
		return block;
	if (slot < main_address && main_address - slot <= GROWN_MAX && is_free(slot, main_address) &&
		is_contiguous(slot, main_address))
		return MAIN_STACK;
	return 0;
}

/* So far a stack may reach from what is known of it. */
static uint64_t reach(const struct stack *stack, const struct stack *last, uint64_t block, uint64_t near_last)
{
	if (stack->native == MAIN_STACK || (stack->native && stack->native == block))
		return GROWN_MAX;
	return stack == last ? near_last : NEAR;
}

/* The lowest stack above the slot's page that may have the slot, within the largest distance; and the one below. */
static struct stack *above(uint64_t slot, const struct stack *last, uint64_t block)
{
	uint64_t page = slot & ~(PAGE - 1), own = slot < block && block - slot <= GROWN_MAX ? block - slot : 0;
	uint64_t far = last && last->low > slot && last->low - slot <= GROWN_MAX ? last->low - slot : NEAR;

	if (own > far)
		far = own;
	if (slot < main_address && main_address - slot <= GROWN_MAX)
		far = main_address - slot;
	for (uint64_t at = page + PAGE; at <= page + far + PAGE; at += PAGE) {
		struct stack *stack = stack_pages_owner(at);
		if (!stack)
			continue;
		/* After our own thread control block begins another thread's memory. */
		if (slot < block && block < stack->low)
			return NULL;
		return stack->low - slot <= reach(stack, last, block, NEAR_LAST) && is_contiguous(slot, stack->low)
			       ? stack
			       : NULL;
	}
	return NULL;
}

static struct stack *below(uint64_t slot, const struct stack *last, uint64_t block)
{
	uint64_t page = slot & ~(PAGE - 1);
	uint64_t far =
		last && last->native && last->high <= slot && slot - last->high <= GROWN_MAX ? slot - last->high : NEAR;

	for (uint64_t at = page - PAGE; at + far + PAGE >= page; at -= PAGE) {
		struct stack *stack = stack_pages_owner(at);
		if (!stack)
			continue;
		while (stack->above && stack->above->high > stack->high)
			stack = stack->above;
		if (stack->native > MAIN_STACK && slot > stack->native)
			return NULL;
		return slot - stack->high <= reach(stack, last, block, NEAR) && is_contiguous(stack->high - 8, slot)
			       ? stack
			       : NULL;
	}
	return NULL;
}

/* Gives the stack all pages from low up to high, which are no stack's yet, and their mirror. */
static int take_pages(struct stack *stack, uint64_t low, uint64_t high)
{
	for (uint64_t page = low; page < high; page += PAGE)
		if (!stack_pages_make(page) || !stack_pages_map(page))
			return 0;
	for (uint64_t page = low; page < high; page += PAGE)
		if (!stack_pages_owner(page))
			stack_pages_set(page, stack);
	return 1;
}

/* May another thread be on it, or come back to calls that are open there? Its own stack is a thread's whoever came. */
static bool is_anothers(const struct stack *stack, const void *runner, uint64_t block)
{
	/* Relaxed, both: it is a guess. */
	const struct tramp_state *other = __atomic_load_n(&stack->runner, __ATOMIC_RELAXED);
	int is_on = other && __atomic_load_n(&other->stack, __ATOMIC_RELAXED) == &stack->hot;

	return other && (const void *)other != runner && !(stack->native > MAIN_STACK && stack->native == block) &&
	       (is_on || stack_has_calls(stack));
}

struct stack *mirror_claim(uint64_t slot, const struct stack *last, const void *runner)
{
	uint64_t page = slot & ~(PAGE - 1), block = cpu_thread(), end = page + PAGE;
	struct stack *stack = mirror_find(slot), *neighbour, *parted = NULL;

	if (stack)
		return stack;
	if (forbidden || stack_pages_are_refused(slot))
		return NULL;
	stack = stack_pages_owner(page);
	if (stack) {
		/* Two stacks shared a page, and one's part was given back; or our parent was doing that at the fork. */
		if (!stack_pages_map(slot))
			return NULL;
		mirror_set_range(stack, stack->low < page ? stack->low : page,
			stack->high > page + PAGE ? stack->high : page + PAGE);
		return stack;
	}
	neighbour = above(slot, last, block);
	/* One of its own then, which becomes the neighbour's when the thread comes up to that (mirror_join()). */
	if (neighbour && is_anothers(neighbour, runner, block)) {
		parted = neighbour->low & (PAGE - 1) ? NULL : neighbour;
	} else if (neighbour) {
		if (!take_pages(neighbour, page, neighbour->low & ~(PAGE - 1)))
			return NULL;
		mirror_set_range(neighbour, page, neighbour->high);
		return neighbour;
	}
	neighbour = parted ? NULL : below(slot, last, block);
	if (neighbour && !is_anothers(neighbour, runner, block)) {
		if (!take_pages(neighbour, (neighbour->high + PAGE - 1) & ~(PAGE - 1), page + PAGE))
			return NULL;
		mirror_set_range(neighbour, neighbour->low, page + PAGE);
		return neighbour;
	}
	look_at_some();
	stack = mirror_new();
	if (!stack)
		return NULL;
	stack->end = page + FAR;
	stack->hot.top = stack->end;
	stack->native = native(slot, block);
	if (parted && parted->low > page) {
		end = parted->low;
		stack->parent = parted->hot.top;
		stack->above = parted;
	}
	for (uint64_t at = page; at < end; at += PAGE)
		if (!stack_pages_make(at) || !stack_pages_map(at)) {
			mirror_give_back(stack, NULL);
			return NULL;
		}
	mirror_begin_range(stack, page, end);
	for (uint64_t at = page; at < end; at += PAGE)
		stack_pages_set(at, stack);
	return stack;
}

void mirror_prepare(uint64_t sp)
{
	for (uint64_t i = 0; i < PREPARED && sp > i * STACK_PIECE; i++) {
		uint64_t slot = sp - i * STACK_PIECE;
		if (forbidden || stack_pages_are_refused(slot) || !stack_pages_make(slot) || !stack_pages_map(slot))
			break;
	}
}

bool mirror_is_own(const struct stack *stack)
{
	return stack->native > MAIN_STACK && stack->native == cpu_thread();
}

struct stack *mirror_open_part(const struct stack *stack, const void *runner)
{
	uint64_t at = stack->low & ~(PAGE - 1), end = stack->native;
	uint64_t high = end > MAIN_STACK ? end : main_address;
	struct stack *part;

	if (!end || high < at)
		return NULL;
	/* Parts of a stack that grew lie side by side. */
	while ((part = stack_pages_owner(at - PAGE)) && part->native == end)
		at -= PAGE;
	for (; at < high; at += PAGE) {
		part = stack_pages_owner(at);
		for (int steps = 0; part && part->low < at + PAGE && steps < MOST_ABOVE; steps++, part = part->above)
			if (part->native == end && part->runner == runner && stack_has_calls(part))
				return part;
	}
	return NULL;
}

bool mirror_is_whole(const struct stack *stack)
{
	return (stack->native == MAIN_STACK || mirror_is_own(stack)) && !stack->parent;
}

uint64_t mirror_top(const struct stack *stack)
{
	uint64_t top = !mirror_is_whole(stack) ? 0 : stack->native == MAIN_STACK ? main_address : stack->native;

	return top > stack->high ? top : stack->high;
}

void mirror_init(void *(*memory)(size_t size))
{
	more = memory;
}

void mirror_main(uint64_t address)
{
	main_address = address;
}

void mirror_forbid(void)
{
	forbidden = 1;
}
