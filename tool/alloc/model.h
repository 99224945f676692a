/* SPDX-License-Identifier: MIT */
/*
 * Who allocated what: adds up allocations and frees, told in the order of time over all threads and processes.
 *
 * Each block belongs to the account of the stack that allocated it; accounts have numbers, from 0 up, which the caller
 * gives. Processes have memory of their own, so a table of live blocks each; live memory is that of all together. Of a
 * process that has ended nothing is live: what it had not freed is left.
 *
 * What was live at the peak, per account, is known without copying all accounts whenever there is a higher one: `peaks`
 * counts the peaks; an account that changes first notes what it has, with the number of the last peak, unless it has
 * noted that already. What has not changed since then has the same now.
 *
 * An address that comes again while it is live was freed by somebody whom the trace does not show: a lost free. A block
 * is temporary if the thread that allocated it has allocated fewer than `soon` others when it is freed.
 *
 * Memory: for accounts and for live blocks, not for events. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_MODEL_H
#define XAUDIT_TOOL_ALLOC_MODEL_H

#include "tool/alloc/blocks.h"
#include "tool/alloc/maps.h"
#include "tool/alloc/timeline.h"

/* Blocks, and their bytes. */
struct alloc_sum {
	uint64_t blocks, bytes;
};

struct alloc_account {
	struct alloc_sum all;	    /* that were allocated */
	struct alloc_sum live, left; /* now; when their processes ended */
	struct alloc_sum noted;	    /* what was live at the peak number `peak`: alloc_model_at_peak() */
	uint64_t peak, temporary;
};

struct alloc_model {
	uint32_t soon; /* the caller's: 1, at least */
	struct alloc_account *account;
	uint32_t accounts, room;
	struct alloc_account sum; /* over all; noted: at the peak, which is that of bytes */
	uint64_t peaks, peak_time;
	uint64_t frees;	      /* of blocks that were live */
	uint64_t lost_frees;  /* addresses that came again */
	uint64_t unknown_frees; /* frees of addresses where nothing was live */
	uint64_t samples; /* blocks that stand for others, too: sizes are theirs, together. Then none is temporary */
	uint64_t interval; /* ... one in so many bytes */
	struct alloc_timeline timeline;
};

/* An allocation. block->address is not 0. */
void alloc_model_add(
	struct alloc_model *model, struct alloc_blocks *blocks, const struct alloc_block *block, uint64_t time);

/*
 * The block at this address is freed; turn: how many blocks its thread has allocated up to now, if this is the one that
 * frees it (thread). Returns false if there is none, which the caller may count.
 */
bool alloc_model_free(struct alloc_model *model, struct alloc_blocks *blocks, uint64_t address, uint32_t thread,
	uint32_t turn, uint64_t time);

/*
 * A block that is about to be freed, if the call that asks for it succeeds (realloc): takes it out of the table, so
 * that others can have its address; it is live until one of the other two is called. False: there is none.
 */
bool alloc_model_take(struct alloc_blocks *blocks, uint64_t address, struct alloc_block *taken);
void alloc_model_free_taken(struct alloc_model *model, const struct alloc_block *taken, uint32_t thread,
	uint32_t turn, uint64_t time);
void alloc_model_give_back(
	struct alloc_model *model, struct alloc_blocks *blocks, const struct alloc_block *taken, uint64_t time);

/* A mapping, which the caller has in its table. */
void alloc_model_map(struct alloc_model *model, const struct alloc_map *map, uint64_t time);

/* A piece of one, which the caller has taken out of its table, is not there any more. */
void alloc_model_unmap(struct alloc_model *model, const struct alloc_map *piece, uint64_t time);

/* The caller has put this piece back, as a mapping of its own. */
void alloc_model_map_again(struct alloc_model *model, const struct alloc_map *piece);

/* The process of these tables has ended: what is live in them is left, and they are freed. */
void alloc_model_end(
	struct alloc_model *model, struct alloc_blocks *blocks, struct alloc_maps *maps, uint64_t time);

/* What was live at the peak. */
struct alloc_sum alloc_model_at_peak(const struct alloc_model *model, const struct alloc_account *account);

void alloc_model_close(struct alloc_model *model);

#endif
