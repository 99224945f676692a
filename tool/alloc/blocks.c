/* SPDX-License-Identifier: MIT */
#include "tool/alloc/blocks.h"

#include <stdlib.h>

#include "tool/base/memory.h"

#define FIRST_BITS 10

/* Addresses are multiples of 16 as a rule, and often in rows. */
static size_t place_of(const struct alloc_blocks *blocks, uint64_t address)
{
	return (address >> 4 ^ address << 60) * 0x9e3779b97f4a7c15u >> blocks->shift;
}

struct alloc_block *alloc_blocks_find(const struct alloc_blocks *blocks, uint64_t address)
{
	if (!blocks->place || !address)
		return NULL;
	for (size_t at = place_of(blocks, address); blocks->place[at].address; at = (at + 1) & blocks->mask)
		if (blocks->place[at].address == address)
			return &blocks->place[at];
	return NULL;
}

static void put(struct alloc_blocks *blocks, const struct alloc_block *block)
{
	size_t at = place_of(blocks, block->address);

	while (blocks->place[at].address)
		at = (at + 1) & blocks->mask;
	blocks->place[at] = *block;
}

static void grow(struct alloc_blocks *blocks)
{
	struct alloc_blocks old = *blocks;
	unsigned bits = old.place ? 64 - old.shift + 1 : FIRST_BITS;

	blocks->shift = 64 - bits;
	blocks->mask = ((size_t)1 << bits) - 1;
	blocks->place = memory_zeroed(blocks->mask + 1, sizeof(*blocks->place));
	for (size_t i = 0; old.place && i <= old.mask; i++)
		if (old.place[i].address)
			put(blocks, &old.place[i]);
	free(old.place);
}

void alloc_blocks_add(struct alloc_blocks *blocks, const struct alloc_block *block)
{
	if (!blocks->place || blocks->count >= (blocks->mask + 1) / 4 * 3)
		grow(blocks);
	put(blocks, block);
	blocks->count++;
}

void alloc_blocks_remove(struct alloc_blocks *blocks, struct alloc_block *block)
{
	size_t hole = (size_t)(block - blocks->place), at = hole;

	blocks->count--;
	for (;;) {
		at = (at + 1) & blocks->mask;
		if (!blocks->place[at].address)
			break;
		/* It may move up to the hole, unless its own place lies behind that. */
		size_t own = place_of(blocks, blocks->place[at].address);
		if (((at - own) & blocks->mask) < ((at - hole) & blocks->mask))
			continue;
		blocks->place[hole] = blocks->place[at];
		hole = at;
	}
	blocks->place[hole].address = 0;
}

void alloc_blocks_each(const struct alloc_blocks *blocks,
	void (*take)(void *user, const struct alloc_block *block), void *user)
{
	for (size_t i = 0; blocks->place && i <= blocks->mask; i++)
		if (blocks->place[i].address)
			take(user, &blocks->place[i]);
}

void alloc_blocks_free(struct alloc_blocks *blocks)
{
	free(blocks->place);
	*blocks = (struct alloc_blocks){ 0 };
}
