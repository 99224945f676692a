/* SPDX-License-Identifier: MIT */
#include "x86_64/mirror.h"

#include <sys/mman.h> /* MAP_NORESERVE */

#include "runtime/arena.h"
#include "runtime/identity.h"
#include "runtime/maps.h"
#include "runtime/sys.h"
#include "x86_64/tramp.h" /* mirror_entry */

#define PIECE	      (1ul << 20)	/* of stack; its mirror has twice that */
#define USER_END      0x7ffffffff000ul
#define LOWEST	      (0x480000000000ul + PIECE) /* below this a mirror would begin under address 0 */
#define MAPPED_AT_ONCE (64 * PIECE)	/* a mapping may be larger than any stack: don't bridge more than this */

static struct arena memory;
static struct stack *stacks;
static int forbidden;

/*
 * Pieces whose mirror is mapped: an open hash of piece numbers, zero is free. Grown by building another one, which
 * takes its place by one store: a child that another thread forks meanwhile finds one of them whole.
 */
static struct piece_table {
	uint32_t slots, count;
	uint64_t piece[];
} *pieces;

static uint32_t piece_hash(uint64_t piece)
{
	return (uint32_t)(piece * 0x9e3779b97f4a7c15ull >> 40);
}

static int piece_find(uint64_t piece)
{
	if (!pieces)
		return 0;
	for (uint32_t i = piece_hash(piece);; i++) {
		uint64_t there = pieces->piece[i & (pieces->slots - 1)];
		if (there == piece)
			return 1;
		if (!there)
			return 0;
	}
}

static void piece_put(struct piece_table *table, uint64_t piece)
{
	uint32_t i = piece_hash(piece);

	while (table->piece[i & (table->slots - 1)])
		i++;
	table->piece[i & (table->slots - 1)] = piece;
	table->count++;
}

static int piece_add(uint64_t piece)
{
	if (!pieces || pieces->count * 2 >= pieces->slots) {
		uint32_t slots = pieces ? pieces->slots * 2 : 256;
		struct piece_table *bigger = arena_alloc(&memory, sizeof(*bigger) + slots * sizeof(*bigger->piece));
		if (!bigger)
			return 0;
		bigger->slots = slots;
		for (uint32_t i = 0; pieces && i < pieces->slots; i++)
			if (pieces->piece[i])
				piece_put(bigger, pieces->piece[i]);
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner but that child */
		pieces = bigger;
	}
	piece_put(pieces, piece);
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

void mirror_leave(struct stack *stack)
{
	stack->hot.top = stack->high;
	stack->depth = stack->below = 0;
	stack->owner = 0;
}

void mirror_each(uint32_t tid, void (*do_it)(struct stack *stack, void *context), void *context)
{
	for (struct stack *stack = stacks; stack; stack = stack->next)
		if (stack->owner == tid && !stack->refused)
			do_it(stack, context);
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
	/* Who is about to leave what is mapped gets the next piece now, if it can be had: a program in its steady state maps nothing new. */
	if (slot - low < PIECE / 8 && low > LOWEST && low > stack->low && map_piece(low / PIECE - 1))
		low -= PIECE;
	if (high - slot < PIECE / 8 && high < stack->high && map_piece(high / PIECE))
		high += PIECE;
	stack->mapped_low = low;
	stack->mapped_high = high;
	set_range(stack);
	return 1;
}

static struct stack *new_stack(uint64_t low, uint64_t high, uint32_t tid, int refused)
{
	struct stack *stack = arena_alloc(&memory, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->low = low;
	stack->high = high;
	stack->hot.top = high;
	stack->owner = tid;
	stack->refused = refused;
	stack->next = stacks;
	stacks = stack;
	return stack;
}

/* Nobody's calls are open here. */
static int is_free(const struct stack *stack)
{
	return !stack->owner || identity_thread_is_gone(stack->owner);
}

/* Asks the kernel for the mapping around slot, which no stack covers. */
static struct stack *find_stack(uint64_t slot, uint32_t tid)
{
	struct mapping m = { 0 };

	if (maps_find(slot, &m) != 1) {
		/* No /proc: all we know is that the piece around the slot is in use. */
		m.low = slot & ~(PIECE - 1);
		m.high = m.low + PIECE;
	}
	int refused = m.inode || m.is_heap || slot < LOWEST || m.high > USER_END;
	for (struct stack *stack = stacks; stack; stack = stack->next) {
		if (stack->low >= m.high || m.low >= stack->high)
			continue;
		if (stack->owner == tid && stack->high == m.high && !refused) {
			stack->low = m.low; /* it has grown */
			set_range(stack);
			return stack;
		}
		if (is_free(stack))
			stack->low = stack->high = stack->hot.size = 0; /* was replaced: covers nothing any more */
	}
	return new_stack(m.low, m.high, tid, refused);
}

void mirror_forbid(void)
{
	forbidden = 1;
}

struct stack *mirror_stack(uint64_t slot, uint32_t tid)
{
	struct stack *stack = NULL, *others = NULL;

	if (forbidden)
		return NULL;
	for (struct stack *s = stacks; s && !stack; s = s->next) {
		if (slot < s->low || slot >= s->high)
			continue;
		if (s->refused)
			return NULL;
		others = s;
		if (s->owner == tid)
			stack = s;
	}
	for (struct stack *s = stacks; s && others && !stack; s = s->next) {
		if (slot >= s->low && slot < s->high && is_free(s)) {
			stack = s;
			stack->hot.top = stack->high;
			stack->owner = tid;
		}
	}
	if (!stack)
		stack = others ? new_stack(others->low, others->high, tid, 0) : find_stack(slot, tid);
	if (!stack || stack->refused)
		return NULL;
	if ((slot < stack->mapped_low || slot >= stack->mapped_high) && !cover(stack, slot)) {
		stack->refused = 1;
		return NULL;
	}
	return stack;
}
