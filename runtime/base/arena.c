/* SPDX-License-Identifier: MIT */
#include "runtime/base/arena.h"

#include <stdbool.h>
#include <stdint.h>   /* uintptr_t */
#include <sys/mman.h> /* PROT_READ */

#include "x86_64/sys.h" /* sys_mmap */

struct arena_block {
	struct arena_block *older;
	size_t size;
};

#define FIRST_BLOCK (64ul << 10)

#define WINDOW	(8ul << 10)
#define WINDOWS 16

static uint8_t window[WINDOWS][WINDOW] __attribute__((aligned(4096))) SYS_LARGE;
static unsigned taken; /* windows; atomic */

static void take_window(struct arena *arena)
{
	/* Relaxed: a look. */
	unsigned n = __atomic_load_n(&taken, __ATOMIC_RELAXED);

	do {
		if (n >= WINDOWS)
			return;
		/* Acquire; pairs with the release in give_window(): the memory is zero again. Relaxed: another look. */
	} while (!__atomic_compare_exchange_n(&taken, &n, n + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	arena->window = n + 1;
	arena->next = (uintptr_t)window[n];
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in arena_alloc(), of a child that is forked here */
	arena->end = (uintptr_t)window[n] + WINDOW;
}

static void give_window(unsigned n, size_t used)
{
	/* Relaxed: a look. The others' windows stay between ours and the end. */
	if (__atomic_load_n(&taken, __ATOMIC_RELAXED) != n)
		return;
	sys_fill(window[n - 1], 0, used);
	/* Release; pairs with the acquire in take_window(). */
	__atomic_compare_exchange_n(&taken, &n, n - 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Blocks of FIRST_BLOCK that arenas have given back, zero again but for their heads; atomic. */
#define KEPT 4
static struct arena_block *kept[KEPT];

static struct arena_block *take_kept(void)
{
	for (unsigned n = 0; n < KEPT; n++) {
		/* Acquire; pairs with the release in keep(): the memory is zero again. Relaxed: a look. */
		struct arena_block *block = __atomic_load_n(&kept[n], __ATOMIC_RELAXED)
						    ? __atomic_exchange_n(&kept[n], NULL, __ATOMIC_ACQUIRE)
						    : NULL;
		if (block)
			return block;
	}
	return NULL;
}

/* Returns false: there are enough. used: bytes from its start. */
static bool keep(struct arena_block *block, size_t used)
{
	for (unsigned n = 0; n < KEPT; n++) {
		struct arena_block *none = NULL;
		/* Relaxed: a look. */
		if (__atomic_load_n(&kept[n], __ATOMIC_RELAXED))
			continue;
		sys_fill(block, 0, used);
		/* Release; pairs with the acquire in take_kept(). Relaxed: another one was faster. */
		if (__atomic_compare_exchange_n(&kept[n], &none, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~15ul;
	if (!arena->next && size <= WINDOW)
		take_window(arena);
	if (arena->end < arena->next || arena->end - arena->next < size || !arena->next) {
		/* Double what we have: a hundred thousand names cost a handful of mappings. */
		size_t want = arena->mapped > FIRST_BLOCK ? arena->mapped : FIRST_BLOCK;
		if (want < size + sizeof(struct arena_block) + 16)
			want = size + sizeof(struct arena_block) + 16;
		want = (want + 4095) & ~4095ul;
		struct arena_block *block = want == FIRST_BLOCK ? take_kept() : NULL;
		if (!block) {
			void *p = sys_mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (sys_is_error(p))
				return NULL;
			block = p;
		}
		block->older = arena->blocks;
		block->size = want;
		/*
		 * A child that is forked here by another thread must not find room that is not there: the fences order
		 * the stores for that alone.
		 */
		arena->end = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		arena->blocks = block;
		arena->mapped += want;
		arena->next = ((uintptr_t)(block + 1) + 15) & ~15ul;
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as above */
		arena->end = (uintptr_t)block + want;
	}
	void *p = (void *)arena->next;
	arena->next += size;
	return p;
}

char *arena_string(struct arena *arena, const char *text, size_t length)
{
	char *p = arena_alloc(arena, length + 1);
	if (p)
		sys_copy(p, text, length);
	return p;
}

void arena_free(struct arena *arena)
{
	struct arena_block *block = arena->blocks, *older;
	unsigned n = arena->window;
	size_t used = block || !n ? WINDOW : arena->next - (uintptr_t)window[n - 1];
	size_t in_newest = block ? arena->next - (uintptr_t)block : 0;

	/* First: another thread may fork in the middle, and the child must not come here for the same blocks again. */
	*arena = (struct arena){ 0 };
	/* no partner: keeps the compiler from moving the stores after the calls */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (; block; block = older) {
		size_t size = block->size;
		older = block->older;
		if (size != FIRST_BLOCK || !keep(block, in_newest ? in_newest : size))
			sys_munmap(block, size);
		in_newest = 0;
	}
	if (n)
		give_window(n, used);
}
