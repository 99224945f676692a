/* SPDX-License-Identifier: MIT */
/*
 * The blocks that are live in one process, by address: open addressing, where a block that goes leaves no mark, since
 * those behind it move up. Three of four places are taken at most. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_BLOCKS_H
#define XAUDIT_TOOL_ALLOC_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alloc_block {
	uint64_t address; /* 0: none */
	uint64_t size;
	uint32_t stack;	 /* number of its account */
	uint32_t thread; /* who allocated it, */
	uint32_t turn;	 /* and how many blocks that thread had allocated before */
	uint32_t more;	 /* of a sample: so many other blocks that it stands for */
};

/* Zeroed memory is an empty table. */
struct alloc_blocks {
	struct alloc_block *place; /* mask + 1 of them; NULL: none */
	size_t mask, count;
	unsigned shift; /* takes a place from the top bits of a product */
};

/* The block at this address, until the next change of the table; NULL: none. */
struct alloc_block *alloc_blocks_find(const struct alloc_blocks *blocks, uint64_t address);

/* Adds a block, whose address is not 0 and not in the table. */
void alloc_blocks_add(struct alloc_blocks *blocks, const struct alloc_block *block);

/* Removes what alloc_blocks_find() has found. */
void alloc_blocks_remove(struct alloc_blocks *blocks, struct alloc_block *block);

/* Calls take for each block, in no order. */
void alloc_blocks_each(const struct alloc_blocks *blocks,
	void (*take)(void *user, const struct alloc_block *block), void *user);

void alloc_blocks_free(struct alloc_blocks *blocks);

#endif
