/* SPDX-License-Identifier: MIT */
#include "tool/alloc/model.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static struct alloc_account *account_of(struct alloc_model *model, uint32_t number)
{
	if (number >= model->room) {
		uint32_t room = model->room ? model->room : 64;
		while (room <= number)
			room *= 2;
		model->account = memory_resize(model->account, room, sizeof(*model->account));
		memset(model->account + model->room, 0, (room - model->room) * sizeof(*model->account));
		model->room = room;
	}
	if (number >= model->accounts)
		model->accounts = number + 1;
	return &model->account[number];
}

/* To be called before what is live changes. */
static void note(const struct alloc_model *model, struct alloc_account *account)
{
	if (account->peak == model->peaks)
		return;
	account->noted = account->live;
	account->peak = model->peaks;
}

static void add(struct alloc_sum *sum, const struct alloc_block *block)
{
	sum->blocks += 1ull + block->more;
	sum->bytes += block->size;
}

static void subtract(struct alloc_sum *sum, const struct alloc_block *block)
{
	sum->blocks -= 1ull + block->more;
	sum->bytes -= block->size;
}

/* To be called when more is live. */
static void see_peak(struct alloc_model *model, uint64_t time)
{
	if (model->sum.live.bytes <= model->sum.noted.bytes)
		return;
	model->sum.noted = model->sum.live;
	model->peak_time = time;
	model->peaks++;
}

static void release(struct alloc_model *model, const struct alloc_block *block)
{
	struct alloc_account *account = account_of(model, block->stack);

	note(model, account);
	subtract(&account->live, block);
	subtract(&model->sum.live, block);
}

static void see_time(struct alloc_model *model, uint64_t time)
{
	alloc_timeline_set(&model->timeline, time, model->sum.live.bytes, 0, 0);
}

void alloc_model_add(
	struct alloc_model *model, struct alloc_blocks *blocks, const struct alloc_block *block, uint64_t time)
{
	struct alloc_block *before = alloc_blocks_find(blocks, block->address);

	if (before) {
		release(model, before);
		model->lost_frees++;
		*before = *block;
	} else {
		alloc_blocks_add(blocks, block);
	}
	struct alloc_account *account = account_of(model, block->stack);
	note(model, account);
	add(&account->all, block);
	add(&account->live, block);
	add(&model->sum.all, block);
	add(&model->sum.live, block);
	see_peak(model, time);
	alloc_timeline_set(&model->timeline, time, model->sum.live.bytes, 1ull + block->more, block->size);
}

/* The block is not in its table any more. */
static void free_block(struct alloc_model *model, const struct alloc_block *block, uint32_t thread, uint32_t turn,
	uint64_t time)
{
	release(model, block);
	model->frees += 1ull + block->more;
	/* block->turn does not count the block itself. Of samples, others in between are not known. */
	if (!block->more && !model->samples && block->thread == thread && turn - block->turn <= model->soon) {
		account_of(model, block->stack)->temporary++;
		model->sum.temporary++;
	}
	see_time(model, time);
}

bool alloc_model_free(struct alloc_model *model, struct alloc_blocks *blocks, uint64_t address, uint32_t thread,
	uint32_t turn, uint64_t time)
{
	struct alloc_block *found = alloc_blocks_find(blocks, address);

	if (!found)
		return false;
	const struct alloc_block block = *found;
	alloc_blocks_remove(blocks, found);
	free_block(model, &block, thread, turn, time);
	return true;
}

bool alloc_model_take(struct alloc_blocks *blocks, uint64_t address, struct alloc_block *taken)
{
	struct alloc_block *found = alloc_blocks_find(blocks, address);

	if (!found)
		return false;
	*taken = *found;
	alloc_blocks_remove(blocks, found);
	return true;
}

void alloc_model_free_taken(struct alloc_model *model, const struct alloc_block *taken, uint32_t thread,
	uint32_t turn, uint64_t time)
{
	free_block(model, taken, thread, turn, time);
}

void alloc_model_give_back(
	struct alloc_model *model, struct alloc_blocks *blocks, const struct alloc_block *taken, uint64_t time)
{
	if (!alloc_blocks_find(blocks, taken->address)) {
		alloc_blocks_add(blocks, taken);
		return;
	}
	/* Somebody has its address: so it was freed all the same. */
	release(model, taken);
	model->lost_frees++;
	see_time(model, time);
}

/* Makes an account, and the sum, so much larger: bytes, and parts of which these are. */
static void resize(struct alloc_model *model, uint32_t stack, uint64_t bytes, int parts)
{
	struct alloc_account *account = account_of(model, stack);
	struct alloc_sum *sums[] = { &account->live, &model->sum.live };

	note(model, account);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		sums[i]->bytes += bytes;
		sums[i]->blocks += (uint64_t)parts;
	}
}

void alloc_model_map(struct alloc_model *model, const struct alloc_map *map, uint64_t time)
{
	resize(model, map->stack, map->size, 1);
	const struct alloc_block block = { .size = map->size };
	add(&account_of(model, map->stack)->all, &block);
	add(&model->sum.all, &block);
	see_peak(model, time);
	alloc_timeline_set(&model->timeline, time, model->sum.live.bytes, 1, map->size);
}

void alloc_model_unmap(struct alloc_model *model, const struct alloc_map *piece, uint64_t time)
{
	resize(model, piece->stack, -piece->size, piece->parts);
	model->frees += piece->parts < 0;
	see_time(model, time);
}

void alloc_model_map_again(struct alloc_model *model, const struct alloc_map *piece)
{
	resize(model, piece->stack, 0, piece->parts + 1);
}

static void leave(void *user, const struct alloc_block *block)
{
	struct alloc_model *model = user;

	release(model, block);
	add(&account_of(model, block->stack)->left, block);
	add(&model->sum.left, block);
}

void alloc_model_end(
	struct alloc_model *model, struct alloc_blocks *blocks, struct alloc_maps *maps, uint64_t time)
{
	bool any = blocks->count || maps->count;

	for (uint32_t i = 0; i < maps->count; i++)
		leave(model, &(struct alloc_block){ .size = maps->map[i].size, .stack = maps->map[i].stack });
	alloc_maps_free(maps);
	alloc_blocks_each(blocks, leave, model);
	alloc_blocks_free(blocks);
	if (any)
		see_time(model, time);
}

struct alloc_sum alloc_model_at_peak(const struct alloc_model *model, const struct alloc_account *account)
{
	if (account == &model->sum)
		return account->noted;
	return account->peak == model->peaks ? account->noted : account->live;
}

void alloc_model_close(struct alloc_model *model)
{
	free(model->account);
	*model = (struct alloc_model){ 0 };
}
