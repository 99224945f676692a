/* SPDX-License-Identifier: MIT */
#include "x86_64/stack_pages.h"

#include <stdbool.h>
#include <sys/mman.h> /* MAP_NORESERVE */

#include "x86_64/confined.h"
#include "x86_64/sys.h"
#include "x86_64/tramp.h" /* mirror_entry */

#define PAGE	 STACK_PAGE
#define PIECE	 STACK_PIECE
#define USER_END 0x7ffffffff000ul
#define LOWEST	 (0x480000000000ul + PIECE) /* below this a mirror would begin under address 0 */

#define LEAF_PAGES 4096
#define PIECES	   (LEAF_PAGES * PAGE / PIECE)

struct leaf {
	struct stack *stack[LEAF_PAGES]; /* the lowest that has a part of the page */
};

/* What is known beside of a leaf's 16 MiB. */
struct leaf_state {
	uint16_t mapped, refused; /* a bit per piece: its mirror is mapped; can't be */
	uint16_t pages[PIECES];	  /* of each piece: how many are a stack's */
};

struct middle {
	struct leaf *leaf[4096];
	struct leaf_state state[4096];
};

static struct middle *table[2048] SYS_LARGE;

static void *map_zeros(size_t size)
{
	if (confined())
		return NULL;
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_is_error(p) ? NULL : p;
}

/* Where the page's entry is, or NULL. */
static struct stack **find_entry(uint64_t slot)
{
	if (slot >= USER_END)
		return NULL;
	/* Acquire, here and below; pairs with the releases in stack_pages_make(): what is found is filled. */
	struct middle *middle = __atomic_load_n(&table[slot >> 36], __ATOMIC_ACQUIRE);
	struct leaf *leaf = middle ? __atomic_load_n(&middle->leaf[slot >> 24 & 4095], __ATOMIC_ACQUIRE) : NULL;
	return leaf ? &leaf->stack[slot >> 12 & 4095] : NULL;
}

int stack_pages_make(uint64_t slot)
{
	struct middle **middle = &table[slot >> 36];

	if (!*middle) {
		struct middle *new_middle = map_zeros(sizeof(*new_middle));
		if (!new_middle)
			return 0;
		/* Release, here and below; pairs with the acquires in find_entry(). */
		__atomic_store_n(middle, new_middle, __ATOMIC_RELEASE);
	}
	struct leaf **leaf = &(*middle)->leaf[slot >> 24 & 4095];
	if (!*leaf) {
		struct leaf *new_leaf = map_zeros(sizeof(*new_leaf));
		if (!new_leaf)
			return 0;
		__atomic_store_n(leaf, new_leaf, __ATOMIC_RELEASE); /* as above */
	}
	return 1;
}

/* For a slot whose entry exists. */
static struct leaf_state *state_of(uint64_t slot)
{
	return &table[slot >> 36]->state[slot >> 24 & 4095];
}

static unsigned piece_of(uint64_t slot)
{
	return slot >> 20 & (PIECES - 1);
}

struct stack *stack_pages_owner(uint64_t slot)
{
	struct stack **entry = find_entry(slot);

	/* Acquire; pairs with the release in stack_pages_set(): the struct is filled. */
	return entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : NULL;
}

void stack_pages_set(uint64_t slot, struct stack *stack)
{
	struct stack **entry = find_entry(slot);
	uint16_t *pages = &state_of(slot)->pages[piece_of(slot)];
	int before = *entry != NULL;

	/* Never counted too low: a child that another thread forks meanwhile would give a mirror back that is in use.
	 */
	if (!before && stack)
		++*pages;
	__atomic_store_n(entry, stack, __ATOMIC_RELEASE); /* release; pairs with the acquire in stack_pages_owner() */
	if (before && !stack)
		--*pages;
}

/* For the slot's piece, whose entry exists. Returns whether it is mapped. */
int stack_pages_map(uint64_t slot)
{
	struct leaf_state *state = state_of(slot);
	uint16_t bit = (uint16_t)(1u << piece_of(slot));

	if (state->mapped & bit)
		return 1;
	if (state->refused & bit || confined())
		return 0;
	void *at = mirror_entry(slot & ~(PIECE - 1));
	if (sys_mmap_at(at, 2 * PIECE, PROT_READ | PROT_WRITE)) {
		state->refused |= bit;
		return 0;
	}
	/* A few words per frame are used: no huge pages. In core dumps it must be, or a backtrace ends at the first
	 * intercepted call. */
	sys_madvise(at, 2 * PIECE, MADV_NOHUGEPAGE);
	state->mapped |= bit;
	return 1;
}

bool stack_pages_are_refused(uint64_t slot)
{
	const struct middle *middle;

	if (slot < LOWEST || slot >= USER_END)
		return true;
	middle = table[slot >> 36];
	return middle && middle->state[slot >> 24 & 4095].refused >> piece_of(slot) & 1;
}

/* The page is no stack's any more: gives its mirror back, or that of the whole piece. */
void stack_pages_drop(uint64_t slot)
{
	struct leaf_state *state = state_of(slot);
	uint16_t bit = (uint16_t)(1u << piece_of(slot));

	if (!(state->mapped & bit) || confined())
		return;
	if (state->pages[piece_of(slot)]) {
		sys_madvise(mirror_entry(slot & ~(PAGE - 1)), 2 * PAGE, MADV_DONTNEED);
		return;
	}
	/* First: that child must not take for mapped what is not. */
	state->mapped &= (uint16_t)~bit;
	sys_munmap(mirror_entry(slot & ~(PIECE - 1)), 2 * PIECE);
	for (unsigned i = 0; i < PIECES; i++)
		if (state->pages[i])
			return;
	/* Of the table, too: zeros as before. */
	sys_madvise(table[slot >> 36]->leaf[slot >> 24 & 4095], sizeof(struct leaf), MADV_DONTNEED);
}
