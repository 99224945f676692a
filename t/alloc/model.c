/* SPDX-License-Identifier: MIT */
/* The model of xaudit alloc, told of blocks at known times: sums, peaks, what is left, temporary, mappings, steps. */
#include "tool/alloc/model.h"

#include <stdlib.h>
#include <string.h>

#include "t/lib/random.h"
#include "t/lib/tap.h"

#define PAGE 4096

static uint64_t state = RANDOM_BEGIN;

static struct alloc_model model;
static struct alloc_blocks blocks;
static struct alloc_maps maps;

static void begin(const char *what)
{
	diag("%s", what);
	model = (struct alloc_model){ .soon = 1 };
}

static void end(uint64_t time)
{
	alloc_model_end(&model, &blocks, &maps, time);
}

static void add(uint64_t address, uint64_t size, uint32_t stack, uint32_t turn)
{
	const struct alloc_block block = { .address = address, .size = size, .stack = stack, .turn = turn };

	alloc_model_add(&model, &blocks, &block, turn);
}

static void sum_is(const struct alloc_sum *sum, uint64_t count, uint64_t bytes, const char *what)
{
	is_int((long long)sum->blocks, (long long)count, "%s: blocks", what);
	is_int((long long)sum->bytes, (long long)bytes, "%s: bytes", what);
}

static void peak_is(uint32_t stack, uint64_t count, uint64_t bytes, const char *what)
{
	struct alloc_sum peak = alloc_model_at_peak(&model, stack ? &model.account[stack] : &model.sum);

	sum_is(&peak, count, bytes, what);
}

/* Stack 1 has its own peak before that of all, stack 2 after. */
static void peaks(void)
{
	begin("peaks");
	add(0x10, 100, 1, 0);
	add(0x20, 50, 1, 1);
	alloc_model_free(&model, &blocks, 0x20, 0, 9, 2);
	add(0x30, 60, 2, 3);
	add(0x40, 5, 3, 4); /* the peak: 165 */
	alloc_model_free(&model, &blocks, 0x10, 0, 9, 5);
	add(0x50, 61, 2, 6);
	sum_is(&model.sum.all, 5, 276, "all");
	sum_is(&model.sum.live, 3, 126, "live");
	peak_is(0, 3, 165, "the peak");
	is_int((long long)model.peak_time, 4, "its time");
	peak_is(1, 1, 100, "stack 1 then");
	peak_is(2, 1, 60, "stack 2 then, though it has more now");
	peak_is(3, 1, 5, "stack 3, which has not changed since");
	end(7);
	sum_is(&model.sum.left, 3, 126, "left");
	sum_is(&model.sum.live, 0, 0, "live after the end");
	sum_is(&model.account[2].left, 2, 121, "left of stack 2");
	peak_is(3, 1, 5, "the peak stays what it was");
	alloc_model_close(&model);
}

static void processes(void)
{
	struct alloc_blocks other = { 0 };
	const struct alloc_block block = { .address = 0x10, .size = 30, .stack = 1 };

	begin("two processes have the same address");
	add(0x10, 70, 1, 0);
	alloc_model_add(&model, &other, &block, 1);
	is_int((long long)model.lost_frees, 0, "nothing is lost");
	peak_is(0, 2, 100, "the peak is that of both");
	end(2);
	alloc_model_add(&model, &other, &(struct alloc_block){ .address = 0x20, .size = 60, .stack = 1 }, 3);
	peak_is(0, 2, 100, "what the first one has left is live no more");
	alloc_model_end(&model, &other, &maps, 4);
	sum_is(&model.account[1].left, 3, 160, "left of both");
	alloc_model_close(&model);
}

static void lost(void)
{
	struct alloc_block taken;

	begin("frees that nobody saw, and reallocations");
	add(0x10, 10, 1, 0);
	add(0x10, 20, 2, 1);
	is_int((long long)model.lost_frees, 1, "an address that comes again was freed");
	sum_is(&model.account[1].live, 0, 0, "live of the first");
	sum_is(&model.sum.live, 1, 20, "live");
	ok(!alloc_model_free(&model, &blocks, 0x30, 0, 2, 2), "a free of nothing");
	ok(alloc_model_take(&blocks, 0x10, &taken), "a realloc begins");
	sum_is(&model.sum.live, 1, 20, "the block is live meanwhile");
	alloc_model_give_back(&model, &blocks, &taken, 3);
	ok(alloc_model_free(&model, &blocks, 0x10, 0, 2, 4), "it has failed: the block can be freed");
	add(0x10, 20, 2, 2);
	alloc_model_take(&blocks, 0x10, &taken);
	add(0x10, 7, 3, 3);
	alloc_model_give_back(&model, &blocks, &taken, 5);
	is_int((long long)model.lost_frees, 2, "one that has failed, and somebody has the address: it was freed");
	sum_is(&model.sum.live, 1, 7, "live is the other one's");
	end(6);
	alloc_model_close(&model);
}

static void temporary(void)
{
	begin("temporary blocks");
	add(0x10, 1, 1, 0);
	alloc_model_free(&model, &blocks, 0x10, 0, 1, 1);
	is_int((long long)model.sum.temporary, 1, "nothing was allocated between");
	add(0x10, 1, 1, 1);
	add(0x20, 1, 1, 2);
	alloc_model_free(&model, &blocks, 0x10, 0, 3, 2);
	is_int((long long)model.sum.temporary, 1, "one was");
	alloc_model_free(&model, &blocks, 0x20, 1, 3, 3);
	is_int((long long)model.sum.temporary, 1, "another thread frees it");
	model.soon = 2;
	add(0x10, 1, 1, 3);
	add(0x20, 1, 1, 4);
	alloc_model_free(&model, &blocks, 0x10, 0, 5, 4);
	is_int((long long)model.account[1].temporary, 2, "of two, one may be between");
	end(5);
	alloc_model_close(&model);
}

/* ---- mappings ---- */

static void map(uint64_t page, uint64_t pages, uint32_t stack)
{
	const struct alloc_map map = { .from = page * PAGE, .size = pages * PAGE, .stack = stack };

	alloc_maps_put(&maps, &map);
	alloc_model_map(&model, &map, 1);
}

/* Returns how many pieces it was in. */
static uint32_t unmap(uint64_t page, uint64_t pages)
{
	struct alloc_maps pieces = { 0 };
	uint32_t count;

	alloc_maps_cut(&maps, page * PAGE, pages * PAGE, &pieces);
	for (uint32_t i = 0; i < pieces.count; i++)
		alloc_model_unmap(&model, &pieces.map[i], 2);
	count = pieces.count;
	alloc_maps_free(&pieces);
	return count;
}

static void mappings(void)
{
	struct alloc_maps pieces = { 0 };

	begin("mappings");
	map(10, 10, 1);
	map(30, 5, 2);
	is_int(unmap(0, 10) + unmap(20, 10), 0, "where nothing is");
	unmap(14, 2);
	sum_is(&model.account[1].live, 2, 8 * PAGE, "a hole in the middle makes two");
	unmap(8, 4);
	sum_is(&model.account[1].live, 2, 6 * PAGE, "one is shorter at its begin");
	is_int(unmap(18, 14), 2, "a range over the end of one and the begin of another");
	sum_is(&model.account[1].live, 2, 4 * PAGE, "the one");
	sum_is(&model.account[2].live, 1, 3 * PAGE, "the other");
	is_int((long long)model.frees, 0, "none is gone as a whole");
	unmap(12, 2);
	is_int((long long)model.frees, 1, "one is");
	alloc_maps_cut(&maps, 33 * PAGE, PAGE, &pieces);
	alloc_model_map_again(&model, &pieces.map[0]);
	alloc_maps_put(&maps, &pieces.map[0]);
	alloc_maps_free(&pieces);
	sum_is(&model.account[2].live, 3, 3 * PAGE, "taken out of the middle, and put back: three parts");
	is_int(unmap(0, 100), 4, "all");
	sum_is(&model.sum.live, 0, 0, "nothing is left");
	map(1, 2, 1);
	end(3);
	sum_is(&model.account[1].left, 1, 2 * PAGE, "left at the end");
	peak_is(0, 2, 15 * PAGE, "the peak");
	alloc_model_close(&model);
}

#define PAGES 64

/* Random mappings, against a page table. */
static void random_maps(void)
{
	uint32_t page[PAGES] = { 0 }, wrong = 0;
	uint64_t live = 0;

	begin("random mappings");
	for (int round = 0; round < 20000; round++) {
		uint32_t from = (uint32_t)random_number(&state) % PAGES;
		uint32_t count = 1 + (uint32_t)random_number(&state) % 8;
		uint32_t to = from + count < PAGES ? from + count : PAGES;
		unmap(from, to - from);
		uint32_t stack = random_number(&state) % 2 ? 1 + (uint32_t)random_number(&state) % 3 : 0;
		if (stack)
			map(from, to - from, stack);
		for (uint32_t i = from; i < to; i++)
			page[i] = stack;
		live = 0;
		for (uint32_t i = 0; i < PAGES; i++)
			live += page[i] ? PAGE : 0;
		wrong += live != model.sum.live.bytes || maps.count != model.sum.live.blocks;
	}
	is_int(wrong, 0, "the model has what the page table has, each time");
	end(3);
	is_int((long long)model.sum.left.bytes, (long long)live, "and at the end");
	alloc_model_close(&model);
}

/* ---- tables ---- */

#define ADDRESSES 5000

/* Blocks that come and go at random addresses, many of whose places are the same. */
static void random_blocks(void)
{
	static uint32_t stack[ADDRESSES];
	uint64_t wrong = 0, live = 0;

	begin("random blocks");
	for (int round = 0; round < 200000; round++) {
		uint32_t at = (uint32_t)random_number(&state) % ADDRESSES;
		uint64_t address = (uint64_t)(at % 7 + 1) << 32 | (uint64_t)at << 4;
		const struct alloc_block *found = alloc_blocks_find(&blocks, address);
		wrong += found ? found->stack != stack[at] : stack[at] != 0;
		if (stack[at]) {
			wrong += !alloc_model_free(&model, &blocks, address, 0, 0, 1);
			stack[at] = 0;
			live--;
			continue;
		}
		stack[at] = 1 + (uint32_t)round % 100;
		add(address, 1, stack[at], 0);
		live++;
	}
	is_int((long long)wrong, 0, "each is found when it is there, and no other");
	is_int((long long)blocks.count, (long long)live, "so many are there");
	is_int((long long)model.lost_frees, 0, "none was lost");
	end(2);
	is_int((long long)model.sum.left.blocks, (long long)live, "and left");
	alloc_model_close(&model);
}

/* ---- over time ---- */

static void timeline(void)
{
	static struct alloc_timeline t;
	uint64_t calls = 0, bytes = 0;

	diag("over time");
	alloc_timeline_set(&t, 1000, 10, 1, 10);
	alloc_timeline_set(&t, 1000 + ALLOC_STEP_FIRST - 1, 30, 1, 20);
	alloc_timeline_set(&t, 1000 + ALLOC_STEP_FIRST, 5, 0, 0);
	is_int(t.steps, 2, "two steps");
	is_int((long long)t.step[0].peak, 30, "the first one's peak");
	is_int((long long)t.step[1].peak, 30, "the second one begins with what was live");
	alloc_timeline_set(&t, 1000 + 4 * ALLOC_STEP_FIRST, 6, 1, 1);
	is_int((long long)t.step[3].peak, 5, "a step in which nothing happens has what was live");
	alloc_timeline_set(&t, 1000 + 2ull * ALLOC_STEPS * ALLOC_STEP_FIRST, 7, 1, 1);
	is_int((long long)t.length, 4ll * ALLOC_STEP_FIRST, "more time than steps: each is four");
	is_int(t.steps, ALLOC_STEPS / 2 + 1, "as many as are needed");
	for (uint32_t i = 0; i < t.steps; i++) {
		calls += t.step[i].calls;
		bytes += t.step[i].bytes;
	}
	is_int((long long)calls, 4, "no call is lost");
	is_int((long long)bytes, 32, "no byte");
	is_int((long long)t.step[0].peak, 30, "nor the peak");
	is_int((long long)t.step[1].peak, 6, "what came later is in its step");
	alloc_timeline_set(&t, 500, 90, 1, 1);
	is_int((long long)t.step[t.steps - 1].peak, 90, "what is late counts in the last one");
}

int main(void)
{
	peaks();
	processes();
	lost();
	temporary();
	mappings();
	random_maps();
	random_blocks();
	timeline();
	return done_testing();
}
