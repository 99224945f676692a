/* SPDX-License-Identifier: MIT */
#include "tool/alloc/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tool/alloc/functions.h"
#include "tool/alloc/stacks.h"
#include "tool/base/memory.h"

struct alloc_thread {
	uint32_t tid, number;
	uint32_t turn; /* blocks that it has allocated */
	struct alloc_open *jumped; /* its last event is the end of this one, which jumped on; NULL */
};

/* What is known of a function, by its number in the trace. */
struct function {
	const struct alloc_function *is; /* NULL: another one */
	uint32_t frame;
	bool known;
};

struct alloc_process {
	struct alloc_account_book *book;
	struct alloc_blocks blocks;
	struct alloc_maps maps;
	struct alloc_stacks stacks;
	struct function *function;
	uint32_t functions;
	struct alloc_thread *thread;
	uint32_t threads, last; /* last: the one that was looked for last */
	struct hash by_tid;
};

/* A block that an inner call has given. */
struct inner {
	struct alloc_block block;
	struct inner *next;
};

/* A call of an allocator function that is open, or has jumped on. */
struct alloc_open {
	const struct alloc_function *function;
	struct alloc_open *outer, *next; /* next: of those that are free */
	struct inner *inner;
	uint64_t address, size; /* as its arguments say; 0 */
	bool is_sampled; /* it is recorded only if it gives or frees a sample */
	uint64_t interval; /* ... bytes, on the average: it gives one; 0: it does not */
	uint64_t factor; /* ... of mappings, flags, or the size that was */
	struct alloc_maps pieces; /* of mremap: what was mapped there */
	uint32_t stack, thread; /* thread: index */
	struct alloc_block taken; /* address 0: none */
};

#define OPEN 0 /* call->user[]: struct alloc_open *; of a call in one, too; 0: none is open */
#define NODE 1 /* ... its node in the tree; 0: not asked for yet */

void alloc_book_open(struct alloc_account_book *book, uint32_t soon)
{
	*book = (struct alloc_account_book){ .model = { .soon = soon } };
	alloc_tree_open(&book->tree);
}

void alloc_book_close(struct alloc_account_book *book)
{
	for (struct alloc_open *open; (open = book->spare);) {
		book->spare = open->next;
		free(open);
	}
	alloc_model_close(&book->model);
	alloc_tree_close(&book->tree);
}

/* ---- processes, threads, functions ---- */

struct alloc_process *alloc_process_begin(struct alloc_account_book *book)
{
	struct alloc_process *process = memory_zeroed(1, sizeof(*process));

	process->book = book;
	book->processes++;
	return process;
}

static struct alloc_thread *thread_of(struct alloc_process *process, uint32_t tid)
{
	if (process->last < process->threads && process->thread[process->last].tid == tid)
		return &process->thread[process->last];
	uint32_t hash = hash_key(tid, 0);
	uint32_t found = HASH_FIND(i, &process->by_tid, hash, process->thread[i].tid == tid);
	if (found == HASH_NONE) {
		found = process->threads++;
		process->thread = memory_grow(process->thread, found, sizeof(*process->thread));
		process->thread[found] = (struct alloc_thread){ .tid = tid, .number = found };
		memory_hash(&process->by_tid, hash, found);
	}
	process->last = found;
	return &process->thread[found];
}

static const struct function *function_of(struct alloc_process *process, const struct xaudit_read_function *function)
{
	if (function->number >= process->functions) {
		uint32_t count = function->number + 64;
		process->function = memory_resize(process->function, count, sizeof(*process->function));
		memset(process->function + process->functions, 0,
			(count - process->functions) * sizeof(*process->function));
		process->functions = count;
	}
	struct function *known = &process->function[function->number];
	if (!known->known) {
		known->is = alloc_function_of(function);
		known->frame = alloc_tree_frame(&process->book->tree, &(struct alloc_frame){ .name = function->name,
			.library = function->object->path, .file = "", .is = ALLOC_FRAME_TRACED });
		known->known = true;
	}
	return known;
}

/* ---- values ---- */

/* Is it the argument at that place, or the result (place -1): as args and retval have it, or as arg1 and ret? */
static bool is_at(const struct xaudit_read_value *value, int place)
{
	const char *name = value->name;

	if (place < 0)
		return value->role == XAUDIT_READ_VALUE_RESULT || !strcmp(name, "ret");
	if (value->role == XAUDIT_READ_VALUE_ARGUMENT)
		return value->place == (uint32_t)place;
	return !strncmp(name, "arg", 3) && name[3] == '1' + place && !name[4];
}

static const struct xaudit_read_value *find(const struct xaudit_read_value *value, uint32_t count, int place)
{
	for (uint32_t i = 0; i < count; i++)
		if (value[i].state == XAUDIT_READ_VALUE_WHOLE && value[i].type <= XAUDIT_READ_VALUE_POINTER &&
			is_at(&value[i], place))
			return &value[i];
	return NULL;
}

static uint32_t read_values(const struct xaudit_read_values *values, struct xaudit_read_value value[XAUDIT_READ_VALUES])
{
	uint32_t count = values ? xaudit_read_values(values, value, XAUDIT_READ_VALUES) : 0;

	return count < XAUDIT_READ_VALUES ? count : XAUDIT_READ_VALUES;
}

/* The argument, if the function has one there. Returns false if it has, and it was not recorded. */
static bool argument(const struct xaudit_read_value *value, uint32_t count, int place, uint64_t *to)
{
	const struct xaudit_read_value *found =
		place < 0 ? NULL : find(value, count, place);

	if (found)
		*to = found->number;
	return found || place < 0;
}

/* Returns false if what is needed was not recorded. */
static bool take_arguments(struct alloc_open *open, const struct xaudit_read_call *call)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = read_values(call->entered, value);
	const struct alloc_function *function = open->function;

	open->factor = 1;
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(value[i].name, "sample") && value[i].state == XAUDIT_READ_VALUE_WHOLE) {
			open->is_sampled = true;
			open->interval = value[i].number;
		}
	if ((!function->out && !argument(value, count, function->address, &open->address)) ||
		!argument(value, count, function->size, &open->size) ||
		!argument(value, count, function->factor, &open->factor))
		return false;
	/* Where the product is too large for a number the call fails. */
	if (!alloc_function_maps(function) && __builtin_mul_overflow(open->size, open->factor, &open->size))
		open->size = UINT64_MAX;
	return true;
}

/* The address that the call gave; 0: it failed. Returns false if that is not known. */
static bool take_result(const struct alloc_function *function, const struct xaudit_read_call *call, uint64_t *address)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = read_values(call->ended, value);
	const struct xaudit_read_value *result = find(value, count, -1);

	if (!result)
		return false;
	*address = result->number;
	if (!function->out)
		return true;
	*address = 0;
	if ((uint32_t)result->number)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if ((!strcmp(value[i].name, ALLOC_OUT) || value[i].marks & XAUDIT_READ_VALUE_OUT) &&
			value[i].state == XAUDIT_READ_VALUE_WHOLE && value[i].type <= XAUDIT_READ_VALUE_POINTER)
			*address = value[i].number;
	return *address != 0;
}

/* ---- stacks ---- */

/* By the backtrace that was recorded with it, or by the calls around it. */
static uint32_t node_of(struct alloc_process *process, struct xaudit_read_call *call)
{
	if (!call)
		return 0;
	if (!call->user[NODE]) {
		struct alloc_tree *tree = &process->book->tree;
		const struct xaudit_read_stack *stack = xaudit_read_stack(call->entered);
		uint32_t parent = stack ? alloc_stacks_node(&process->stacks, tree, stack)
					: node_of(process, call->parent);
		call->user[NODE] = alloc_tree_node(tree, parent, function_of(process, call->function)->frame);
	}
	return (uint32_t)call->user[NODE];
}

/* ---- blocks ---- */

static void put(struct alloc_process *process, struct alloc_block *block, uint64_t time)
{
	block->turn = process->thread[block->thread].turn++;
	alloc_model_add(&process->book->model, &process->blocks, block, time);
}

static void free_block(struct alloc_process *process, uint64_t address, uint32_t thread, bool outermost, uint64_t time)
{
	if (!alloc_model_free(&process->book->model, &process->blocks, address, thread,
		    process->thread[thread].turn, time) && outermost)
		process->book->model.unknown_frees++;
}

/* An even number from 0 to 1, the same in each run. */
static double even(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return (double)((n ^ n >> 31) >> 11) / (double)(1ull << 53);
}

/*
 * A sample stands for as many blocks of its size as one of them is likely to be one (runtime/values/sample.h): with
 * bytes rounded, and blocks to one of two neighbours, so that their sum is right on the average.
 */
static void weigh(struct alloc_model *model, struct alloc_block *block, uint64_t interval)
{
	if (!interval || !block->size)
		return;
	const double weight = -1 / expm1(-(double)block->size / (double)interval);
	const double bytes = (double)block->size * weight;
	const double more = weight - 1 + even(++model->samples);

	model->interval = interval;
	block->size = bytes < 0x1p63 ? (uint64_t)(bytes + 0.5) : UINT64_MAX >> 1;
	block->more = more < UINT32_MAX ? (uint32_t)more : UINT32_MAX;
}

/* What the call has given counts. */
static void give(struct alloc_process *process, struct alloc_open *open, uint64_t address, uint64_t time)
{
	struct alloc_block block = {
		.address = address, .size = open->size, .stack = open->stack, .thread = open->thread
	};

	weigh(&process->book->model, &block, open->interval);
	if (!open->outer) {
		put(process, &block, time);
		return;
	}
	struct inner *inner = memory_zeroed(1, sizeof(*inner));
	*inner = (struct inner){ block, open->outer->inner };
	open->outer->inner = inner;
}

/* A block that an inner call gave, and another one frees, or makes another block of: it counts now. */
static void count_inner(struct alloc_process *process, struct alloc_open *outer, uint64_t address, uint64_t time)
{
	for (; outer; outer = outer->outer)
		for (struct inner **at = &outer->inner, *inner; (inner = *at); at = &inner->next)
			if (inner->block.address == address) {
				*at = inner->next;
				put(process, &inner->block, time);
				free(inner);
				return;
			}
}

/* The inner blocks of a call that has given this one, or none (0). */
static void settle_inner(struct alloc_process *process, struct alloc_open *open, uint64_t address, uint64_t time)
{
	for (struct inner *inner; (inner = open->inner);) {
		const struct alloc_block *block = &inner->block;
		bool same = address == block->address ||
			(address > block->address && address - block->address < block->size);

		open->inner = inner->next;
		if (!same && open->outer) {
			inner->next = open->outer->inner;
			open->outer->inner = inner;
			continue;
		}
		if (!same)
			put(process, &inner->block, time);
		free(inner);
	}
}

/* ---- mappings ---- */

#define PAGE 4096

static uint64_t pages(uint64_t size)
{
	return (size + PAGE - 1) & -(uint64_t)PAGE;
}

static uint32_t unmap(struct alloc_process *process, uint64_t from, uint64_t size, uint64_t time)
{
	struct alloc_maps pieces = { 0 };
	uint32_t count;

	alloc_maps_cut(&process->maps, from, pages(size), &pieces);
	for (uint32_t i = 0; i < pieces.count; i++)
		alloc_model_unmap(&process->book->model, &pieces.map[i], time);
	count = pieces.count;
	alloc_maps_free(&pieces);
	return count;
}

static void map(struct alloc_process *process, const struct alloc_open *open, uint64_t address, uint64_t time)
{
	const struct alloc_map map = { .from = address, .size = pages(open->size), .stack = open->stack };

	alloc_maps_put(&process->maps, &map);
	alloc_model_map(&process->book->model, &map, time);
}

static void begin_mapping(struct alloc_process *process, struct alloc_open *open, uint64_t time)
{
	if (open->function->kind == ALLOC_UNMAP)
		unmap(process, open->address, open->size, time);
	else if (open->function->kind == ALLOC_REMAP)
		alloc_maps_cut(&process->maps, open->address, pages(open->factor), &open->pieces);
}

/* known: the address is what the call gave. Only what is of no file counts; it may take the place of others. */
static void end_mapping(
	struct alloc_process *process, struct alloc_open *open, bool known, uint64_t address, uint64_t time)
{
	struct alloc_model *model = &process->book->model;
	bool maps = known && address != (uint64_t)(uintptr_t)MAP_FAILED;

	for (uint32_t i = 0; i < open->pieces.count; i++) {
		struct alloc_map *piece = &open->pieces.map[i];
		if (maps) {
			alloc_model_unmap(model, piece, time);
		} else {
			alloc_model_map_again(model, piece);
			alloc_maps_put(&process->maps, piece);
		}
	}
	if (maps && open->function->kind != ALLOC_UNMAP) {
		bool fixed = open->function->kind == ALLOC_REMAP || open->factor & MAP_FIXED;
		model->lost_frees += unmap(process, address, open->size, time) && !fixed;
		if (open->function->kind == ALLOC_REMAP ? open->pieces.count : open->factor & MAP_ANONYMOUS)
			map(process, open, address, time);
	}
	alloc_maps_free(&open->pieces);
}

/* ---- calls ---- */

static struct alloc_open *take_open(struct alloc_account_book *book)
{
	struct alloc_open *open = book->spare;

	if (!open)
		return memory_zeroed(1, sizeof(*open));
	book->spare = open->next;
	return open;
}

static void give_open(struct alloc_account_book *book, struct alloc_open *open)
{
	open->next = book->spare;
	book->spare = open;
}

static struct alloc_open *open_of(const struct xaudit_read_call *call)
{
	return call ? (struct alloc_open *)(uintptr_t)call->user[OPEN] : NULL;
}

/* known: the address is what the call gave; else nobody knows. */
static void finish(struct alloc_process *process, struct alloc_open *open, bool known, uint64_t address, uint64_t time)
{
	struct alloc_model *model = &process->book->model;
	uint32_t turn = process->thread[open->thread].turn;
	bool gives = known && address && open->function->kind <= ALLOC_REALLOC &&
		     (!open->is_sampled || open->interval);

	if (alloc_function_maps(open->function))
		end_mapping(process, open, known, address, time);
	if (open->taken.address && known && (address || !open->size))
		alloc_model_free_taken(model, &open->taken, open->thread, turn, time);
	else if (open->taken.address)
		alloc_model_give_back(model, &process->blocks, &open->taken, time);
	settle_inner(process, open, gives ? address : 0, time);
	if (gives)
		give(process, open, address, time);
	give_open(process->book, open);
}

static bool gives_memory(const struct alloc_function *function)
{
	return function->kind != ALLOC_FREE && function->kind != ALLOC_UNMAP;
}

/* Does what jumped go on with this call? */
static bool goes_on(const struct alloc_open *jumped, const struct alloc_open *open)
{
	return jumped->outer == open->outer && (jumped->function->kind == ALLOC_FREE) ==
		       (open->function->kind == ALLOC_FREE) &&
	       (jumped->function->kind == ALLOC_FREE ? jumped->address == open->address
						     : jumped->size == open->size);
}

static void begin(struct alloc_process *process, struct alloc_open *open, uint64_t time)
{
	bool frees = open->function->kind == ALLOC_FREE;

	if (alloc_function_maps(open->function)) {
		begin_mapping(process, open, time);
		return;
	}
	if (!open->address || open->function->out)
		return;
	count_inner(process, open->outer, open->address, time);
	if (frees)
		free_block(process, open->address, open->thread, !open->outer && !open->is_sampled, time);
	else if (!alloc_model_take(&process->blocks, open->address, &open->taken) && !open->outer && !open->is_sampled)
		process->book->model.unknown_frees++;
}

/* Nothing is known of what became of it. */
static void give_up_jumped(struct alloc_process *process, struct alloc_open *jumped, uint64_t time)
{
	if (!jumped)
		return;
	process->book->endless += gives_memory(jumped->function);
	finish(process, jumped, false, 0, time);
}

static void see(struct alloc_account_book *book, uint64_t time)
{
	if (!book->begin || time < book->begin)
		book->begin = time;
	if (time > book->end)
		book->end = time;
}

void alloc_call_begins(struct alloc_process *process, struct xaudit_read_call *call, uint64_t time)
{
	const struct alloc_function *is = function_of(process, call->function)->is;
	struct alloc_open *outer = open_of(call->parent);
	struct alloc_thread *thread = thread_of(process, call->tid);
	struct alloc_open *jumped = thread->jumped;

	see(process->book, time);
	call->user[OPEN] = (uintptr_t)outer;
	call->user[NODE] = 0;
	thread->jumped = NULL;
	/* How an allocator gets its memory is its own affair. */
	if (is && outer && alloc_function_maps(is))
		is = NULL;
	if (!is) {
		give_up_jumped(process, jumped, time);
		return;
	}
	process->book->calls++;
	struct alloc_open *open = take_open(process->book);
	*open = (struct alloc_open){ .function = is, .outer = outer, .thread = thread->number };
	if (!take_arguments(open, call)) {
		process->book->without++;
		give_open(process->book, open);
		give_up_jumped(process, jumped, time);
		return;
	}
	if (jumped && goes_on(jumped, open)) {
		give_open(process->book, open);
		call->user[OPEN] = (uintptr_t)jumped;
		return;
	}
	give_up_jumped(process, jumped, time);
	if (gives_memory(is))
		open->stack = node_of(process, call);
	call->user[OPEN] = (uintptr_t)open;
	begin(process, open, time);
}

void alloc_call_ends(struct alloc_process *process, struct xaudit_read_call *call, uint64_t time)
{
	const struct alloc_function *is = function_of(process, call->function)->is;
	struct alloc_open *open = open_of(call);
	uint64_t address = 0;

	see(process->book, time);
	/* A call without values has none of its own. */
	if (!is || !open || open == open_of(call->parent))
		return;
	if (call->how == XAUDIT_READ_JUMPED) {
		thread_of(process, call->tid)->jumped = open;
		return;
	}
	bool gives = gives_memory(open->function);
	bool known = gives && call->how == XAUDIT_READ_RETURNED && take_result(is, call, &address);
	if (gives && call->how == XAUDIT_READ_RETURNED)
		process->book->without += !known;
	else if (gives)
		process->book->endless += call->how != XAUDIT_READ_UNWOUND;
	finish(process, open, known, address, time);
}

void alloc_process_end(struct alloc_process *process, uint64_t time)
{
	for (uint32_t i = 0; i < process->threads; i++)
		give_up_jumped(process, process->thread[i].jumped, time);
	alloc_model_end(&process->book->model, &process->blocks, &process->maps, time);
	alloc_stacks_free(&process->stacks);
	free(process->function);
	free(process->thread);
	hash_free(&process->by_tid);
	free(process);
}
