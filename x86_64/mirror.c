/* SPDX-License-Identifier: MIT */
#include "x86_64/mirror.h"

#include <sys/mman.h> /* MAP_NORESERVE */

#include "runtime/arena.h"
#include "runtime/maps.h"
#include "runtime/sys.h"
#include "x86_64/tramp.h" /* mirror_entry */

#define PIECE	      (1ul << 20)	/* of stack; its mirror has twice that */
#define USER_END      0x7ffffffff000ul
#define LOWEST	      (0x480000000000ul + PIECE) /* below this a mirror would begin under address 0 */
#define MAPPED_AT_ONCE (64 * PIECE)	/* a mapping may be larger than any stack: don't bridge more than this */

static struct arena memory;
static struct stack *stacks;

/* Pieces whose mirror is mapped: an open hash of piece numbers, zero is free. Grown by rebuilding. */
static uint64_t *pieces;
static uint32_t piece_slots, piece_count;

static uint32_t piece_hash(uint64_t piece)
{
	return (uint32_t)(piece * 0x9e3779b97f4a7c15ull >> 40);
}

static int piece_find(uint64_t piece)
{
	if (!piece_slots)
		return 0;
	for (uint32_t i = piece_hash(piece);; i++) {
		uint64_t there = pieces[i & (piece_slots - 1)];
		if (there == piece)
			return 1;
		if (!there)
			return 0;
	}
}

static void piece_put(uint64_t piece)
{
	uint32_t i = piece_hash(piece);

	while (pieces[i & (piece_slots - 1)])
		i++;
	pieces[i & (piece_slots - 1)] = piece;
	piece_count++;
}

static int piece_add(uint64_t piece)
{
	if (piece_count * 2 >= piece_slots) {
		uint32_t slots = piece_slots ? piece_slots * 2 : 256, old_slots = piece_slots;
		uint64_t *bigger = arena_alloc(&memory, slots * sizeof(*bigger)), *old = pieces;
		if (!bigger)
			return 0;
		pieces = bigger;
		piece_slots = slots;
		piece_count = 0;
		for (uint32_t i = 0; i < old_slots; i++)
			if (old[i])
				piece_put(old[i]);
	}
	piece_put(piece);
	return 1;
}

static int map_piece(uint64_t piece)
{
	if (piece_find(piece))
		return 1;
	void *at = mirror_entry(piece * PIECE);
	void *p = sys_mmap(at, 2 * PIECE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (sys_is_error(p))
		return 0;
	if (p != at || !piece_add(piece)) {
		sys_munmap(p, 2 * PIECE);
		return 0;
	}
	/* A few words per frame are used: no huge pages. In core dumps it must be, or a backtrace ends at the first intercepted call. */
	sys_madvise(p, 2 * PIECE, MADV_NOHUGEPAGE);
	return 1;
}

void mirror_leave(struct stack *stack, uint64_t sp)
{
	uint64_t low = stack->mapped_low > stack->low ? stack->mapped_low : stack->low;
	uint64_t from = (uint64_t)(uintptr_t)mirror_entry(low), to = (uint64_t)(uintptr_t)mirror_entry(sp) & ~4095ul;

	stack->hot.top = stack->high;
	stack->owner = 0;
	from = (from + 4095) & ~4095ul;
	if (sp > low && from < to)
		sys_madvise((void *)(uintptr_t)from, to - from, MADV_DONTNEED);
}

/* ---- stacks ---- */

/*
 * What of the stack has a mirror. Low first, then size: while low sinks, size may fall short, never reach too far.
 */
static void set_range(struct stack *stack)
{
	uint64_t low = stack->low > stack->mapped_low ? stack->low : stack->mapped_low;
	uint64_t high = stack->high < stack->mapped_high ? stack->high : stack->mapped_high;

	stack->hot.low = low;
	stack->hot.size = high > low ? high - low : 0;
}

/* Maps the mirror from what is mapped already to slot's piece. */
static int cover(struct stack *stack, uint64_t slot)
{
	uint64_t low = slot & ~(PIECE - 1), high = low + PIECE;

	if (stack->mapped_low < stack->mapped_high) {
		if (low > stack->mapped_high + MAPPED_AT_ONCE || high + MAPPED_AT_ONCE < stack->mapped_low)
			return 0;
		if (low > stack->mapped_low)
			low = stack->mapped_low;
		if (high < stack->mapped_high)
			high = stack->mapped_high;
	}
	for (uint64_t at = low; at < high; at += PIECE)
		if ((at < stack->mapped_low || at >= stack->mapped_high) && !map_piece(at / PIECE))
			return 0;
	stack->mapped_low = low;
	stack->mapped_high = high;
	set_range(stack);
	return 1;
}

static struct stack *new_stack(uint64_t slot)
{
	struct mapping m = { 0 };
	struct stack *stack;

	if (maps_find(slot, &m) != 1) {
		/* No /proc: all we know is that the piece around the slot is in use. */
		m.low = slot & ~(PIECE - 1);
		m.high = m.low + PIECE;
	}
	uint64_t low = m.low, high = m.high;
	int is_stack = !m.inode && !m.is_heap;

	/* A stack that has grown, or a mapping that was replaced: its old description goes. */
	for (stack = stacks; stack; stack = stack->next)
		if (stack->low < high && low < stack->high)
			break;
	if (stack && stack->high == high && is_stack) {
		stack->low = low;
		set_range(stack);
		return stack;
	}
	for (struct stack *s = stack; s; s = s->next)
		if (s->low < high && low < s->high)
			s->low = s->high = s->hot.size = 0; /* covers nothing any more */
	stack = arena_alloc(&memory, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->low = low;
	stack->high = high;
	stack->hot.top = high;
	stack->refused = !is_stack || slot < LOWEST || high > USER_END;
	stack->next = stacks;
	stacks = stack;
	return stack;
}

struct stack *mirror_stack(uint64_t slot)
{
	struct stack *stack = stacks;

	while (stack && !(slot >= stack->low && slot < stack->high))
		stack = stack->next;
	if (!stack)
		stack = new_stack(slot);
	if (!stack || stack->refused)
		return NULL;
	if ((slot < stack->mapped_low || slot >= stack->mapped_high) && !cover(stack, slot)) {
		stack->refused = 1;
		return NULL;
	}
	return stack;
}
