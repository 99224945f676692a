/* SPDX-License-Identifier: MIT */
#include "audit/live/entry_copy.h"

#include <stdbool.h>

#include "audit/live/entry.h"
#include "audit/live/entry_calls.h"
#include "audit/live/entry_stub.h"
#include "audit/live/load_code.h"
#include "runtime/base/maps.h"
#include "runtime/base/search.h"
#include "x86_64/confined.h"
#include "x86_64/displace.h"
#include "x86_64/sys.h"

#define ALIGNMENT 16
#define PAGE	  4096ul

#define NEAREST	 (-0x17000001ll)
#define SPREAD	 (15ll << 20) /* at most from one such call to another: leaves their block a MiB */
#define NEAR (16ll << 20) /* so far below a site at most, a jump there ends in ff */

/* Bytes for its copy behind the stubs; 0: it lies in its stub. */
static size_t room_for(const struct object *object, const struct entry_function *entry)
{
	const struct index_template *template = index_template(&object->index, entry->index);
	const struct index_template *other =
		template && template->meets ? index_template_other(&object->index, entry->index) : NULL;

	if (entry_calls_behind(object, entry->index) || !template)
		return 0;
	size_t size = other && other->size > template->size ? other->size : template->size;
	return size <= STUB_ENTRY_ROOM ? 0 : (size + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
}

size_t entry_copy_room(const struct object *object, const struct entry_block *block)
{
	size_t room = 0;

	for (uint32_t i = 0; i < block->count; i++)
		room += room_for(object, &object->entries[block->first + i]);
	return room;
}

static uint64_t site_of(const struct load *load, const struct index_function *f)
{
	return load->base + f->address + f->skip;
}

static void put_jump(uint8_t *p, uint64_t to)
{
	p[0] = 0xe9;
	sys_put32(p + 1, (uint32_t)(to - ((uint64_t)(uintptr_t)p + INDEX_JUMP)));
}

/* ---- calls behind the jump ---- */

/* The template of function i of the block; NULL: none that may be used. */
static const struct index_template *template_of(const struct load *load, const struct entry_block *block, uint32_t i)
{
	const struct index_function *f = load->object->entries[block->first + i].index;

	return entry_calls_behind(load->object, f) ? NULL : index_template(&load->object->index, f);
}

/* Is there room for this call behind the jump? Not in an index that is damaged. */
static bool has_room(const struct index_function *f, const struct index_template *template)
{
	uint8_t call[DISPLACE_CALL_MAX];
	int padding = f->form == INDEX_FORM_PADDING;
	size_t size = displace_call((enum index_call_in)template->call, call) - template->meets;
	size_t before = padding ? INDEX_JUMP + f->skip : 0, jump = padding ? INDEX_SHORT_JUMP : INDEX_JUMP;

	if (template->meets && (padding || f->length != jump + size))
		return false;
	return f->length >= jump + size && before + f->length <= INDEX_WRITTEN_MAX &&
	       f->originals == before + f->length;
}

static bool is_near(const struct load *load, const struct index_function *f, uint64_t stub)
{
	int64_t distance = (int64_t)(stub - (site_of(load, f) + INDEX_JUMP));

	return distance < 0 && distance >= -NEAR;
}

/* The nearer stub of function i of the block; 0: none. */
static uint64_t near_of(const struct load *load, const struct entry_block *block, uint32_t i)
{
	uint32_t low = SEARCH(n, 0, block->near_count, block->near[n] < i);

	if (low == block->near_count || block->near[low] != i)
		return 0;
	uint64_t stub = stub_entry(&block->near_pages, low);
	return is_near(load, load->object->entries[block->first + i].index, stub) ? stub : 0;
}

uint64_t entry_copy_stub(const struct load *load, const struct entry_block *block, uint32_t i)
{
	uint64_t stub = block->near_count ? near_of(load, block, i) : 0;

	return stub ? stub : stub_entry(&block->pages, i);
}

enum index_call_in entry_copy_call(const struct load *load, const struct entry_block *block, uint32_t i)
{
	const struct index_function *f = load->object->entries[block->first + i].index;
	const struct index_template *template = f->flags & INDEX_ENDS_IN_CALL ? template_of(load, block, i) : NULL;

	if (!template || !template->call || !has_room(f, template) || (template->meets && !near_of(load, block, i)))
		return INDEX_CALL_IN_COPY;
	return (enum index_call_in)template->call;
}

/* Lists the functions of the block that need nearer stubs. Returns the highest of their sites. */
static uint64_t list_near(const struct load *load, struct entry_block *block)
{
	uint64_t highest = 0;

	block->near_count = 0;
	for (uint32_t i = 0; i < block->count; i++) {
		const struct index_function *f = load->object->entries[block->first + i].index;
		const struct index_template *template =
			f->flags & INDEX_ENDS_IN_CALL ? template_of(load, block, i) : NULL;
		if (!template || !template->meets || !has_room(f, template))
			continue;
		if (block->near)
			block->near[block->near_count] = i;
		block->near_count++;
		highest = site_of(load, f) > highest ? site_of(load, f) : highest;
	}
	return highest;
}

/* The highest address from low to high at which `size` bytes are free; 0: none, or it can't be known. */
static uint64_t find_free(uint64_t low, uint64_t high, uint64_t size)
{
	enum { AT_ONCE = 64 };
	static struct mapping mapping[AT_ONCE] SYS_LARGE; /* the lock guards it */
	uint64_t found = 0, from = low, end = high + size;
	long n = AT_ONCE;

	/* A filter of system calls that lets libraries be opened need not know of their list. */
	while (n == AT_ONCE && from < end && !confined() && (n = maps_list(from, end, mapping, AT_ONCE)) >= 0) {
		for (long i = 0; i < n; i++) {
			if (mapping[i].low > from && mapping[i].low - from >= size)
				found = mapping[i].low - size;
			from = mapping[i].high > from ? mapping[i].high : from;
		}
	}
	return n >= 0 && n < AT_ONCE && from < end && end - from >= size ? high : found;
}

/* The place for nearer stubs: right below the load; else as near below as there is one. */
static int map_near(const struct load *load, struct entry_block *block, uint64_t highest)
{
	uint64_t size = stub_near_size(block->near_count), lowest = highest + INDEX_JUMP - (uint64_t)NEAR;

	if (load->start < size || highest < (uint64_t)NEAR)
		return 0;
	/* Their cells are in the block's first place, which may be on the other side of the load. */
	uint64_t low = (uint64_t)(uintptr_t)block->pages.start, high = low + block->pages.size;
	low = load->start < low ? load->start : low;
	high = load->end > high ? load->end : high;
	uint64_t at = (load->start - size) & ~(PAGE - 1);
	for (int i = 0; i < 2; i++) {
		if (stub_map_near(&block->near_pages, at, low, high, block->near_count))
			return 1;
		/* Where the load is so large that some can't have any, the others may. */
		lowest = (lowest + PAGE - 1) & ~(PAGE - 1);
		at = lowest < at ? find_free(lowest, at, size) : 0;
		if (!at)
			return 0;
	}
	return 0;
}

void entry_copy_make_near(struct load *load, struct entry_block *block)
{
	uint64_t highest = list_near(load, block);

	if (!block->near_count)
		return;
	block->near = arena_alloc(&load->arena, block->near_count * sizeof(*block->near));
	if (block->near)
		list_near(load, block);
	if (!block->near || !map_near(load, block, highest)) {
		block->near_count = 0;
		return;
	}
	for (uint32_t n = 0; n < block->near_count; n++)
		stub_write_entry(&block->near_pages, n, stub_cell(&block->pages, block->near[n]));
}

/* ---- the copies ---- */

/* Writes the copy: into the stub, or to `far`. Returns its address, 0: no room. */
static uint64_t put_copy(const struct load *load, const struct entry_block *block, uint32_t i, uint8_t *far,
	size_t room)
{
	const struct index *index = &load->object->index;
	const struct index_function *f = load->object->entries[block->first + i].index;
	uint64_t stub = entry_copy_stub(load, block, i);
	uint8_t *within = (uint8_t *)(uintptr_t)(stub + STUB_ENTRY_COPY), *to = room ? far : within;

	const struct index_template *template = index_template(index, f);
	if (template && template->call && !entry_copy_call(load, block, i))
		template = index_template_other(index, f);
	if (!template || !displace_copy(template, load->base, f->address, (uint64_t)(uintptr_t)to, to,
				 room ? room : STUB_ENTRY_ROOM))
		return 0;
	if (room)
		put_jump(within, (uint64_t)(uintptr_t)far);
	return (uint64_t)(uintptr_t)to;
}

uint64_t entry_copy_own(const struct load *load, const struct entry_block *block, uint32_t i)
{
	const uint64_t within = entry_copy_stub(load, block, i) + STUB_ENTRY_COPY;
	int32_t distance;

	if (!room_for(load->object, &load->object->entries[block->first + i]))
		return within;
	sys_copy(&distance, (const void *)(uintptr_t)(within + 1), sizeof(distance));
	return within + INDEX_JUMP + (uint64_t)(int64_t)distance;
}

void entry_copy_fill(const struct load *load, const struct entry_block *block, uint8_t *copies)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct entry_function *entry = &load->object->entries[block->first + i];
		struct stub_cell *cell = stub_cell(&block->pages, i);
		uint64_t stub = entry_copy_stub(load, block, i);
		size_t room = room_for(load->object, entry);
		uint64_t behind = entry_calls_behind(load->object, entry->index);
		if (!entry_is_as_expected(load, entry->index)) {
			cell->target = TRACE_REASON_OTHER_BYTES;
		} else if (behind) {
			cell->body = load->base + behind;
			put_jump((uint8_t *)(uintptr_t)(stub + STUB_ENTRY_COPY), cell->body);
		} else {
			cell->body = put_copy(load, block, i, copies, room);
			cell->target = cell->body ? 0 : TRACE_REASON_NO_ROOM;
		}
		copies += room;
	}
}
