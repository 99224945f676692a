/* SPDX-License-Identifier: MIT */
#include "audit/live/entry_stub.h"

#include <stdbool.h>

#include "audit/live/entry.h"
#include "audit/live/entry_calls.h"
#include "audit/live/entry_copy.h"
#include "audit/live/load_code.h"
#include "x86_64/displace.h"
#include "x86_64/sys.h"

/* The block of the function, and its number therein; NULL: no stubs yet. */
static const struct entry_block *block_of(const struct load *load, uint32_t function, uint32_t *i)
{
	uint32_t n = function - load->object->sites.of[TRACE_KIND_ENTRY].function;

	for (const struct entry_block *block = load->entries; block; block = block->next) {
		if (n < block->first || n - block->first >= block->count)
			continue;
		*i = n - block->first;
		return block;
	}
	return NULL;
}

struct stub_cell *entry_cell(const struct load *load, uint32_t function, uint64_t *stub)
{
	uint32_t i;
	const struct entry_block *block = block_of(load, function, &i);

	if (!block)
		return NULL;
	*stub = entry_copy_stub(load, block, i);
	return stub_cell(&block->pages, i);
}

/* Its copy, of a function that has one. */
static uint64_t own_copy(const struct load *load, uint32_t function)
{
	uint32_t i;
	const struct entry_block *block = block_of(load, function, &i);

	return block ? entry_copy_own(load, block, i) : 0;
}

bool entry_stays(const struct load *load, uint32_t function)
{
	uint32_t i;
	const struct entry_block *block = block_of(load, function, &i);

	return block && entry_copy_call(load, block, i);
}

size_t entry_patched(const struct load *load, uint32_t function, uint8_t out[16], int *from)
{
	const struct object *object = load->object;
	const struct index_function *f = entry_of(object, function)->index;
	const struct site *site = &object->sites.site[object->sites.function[function].first];
	uint8_t call[DISPLACE_CALL_MAX], own[INDEX_ORIGINAL_MAX];
	uint32_t i;
	const struct entry_block *block = block_of(load, function, &i);

	if (!block)
		return 0;
	uint64_t stub = entry_copy_stub(load, block, i);
	size_t n = sled_patched(site->type, 0, (int64_t)(stub - (load->base + site->address)), out, from);
	size_t behind = displace_call(entry_copy_call(load, block, i), call);
	size_t end = sled_row(site->type)->before + f->length;
	if (!n || !behind)
		return n;
	entry_calls_expect(object, f, f->form == INDEX_FORM_PADDING ? f->address - INDEX_JUMP : site->address, own);
	sys_copy(out + n, own + n, end - n);
	sys_copy(out + end - behind, call, behind);
	return end;
}

enum trace_reason entry_refused(const struct load *load, uint32_t function)
{
	uint64_t stub;
	const struct stub_cell *cell = entry_cell(load, function, &stub);

	if (!cell)
		return TRACE_REASON_NO_ROOM;
	return cell->body ? TRACE_REASON_TRACED : (enum trace_reason)cell->target;
}

uint64_t entry_copy(const struct load *load, uint32_t function, uint16_t inside[INDEX_JUMP - 1])
{
	const struct object *object = load->object;
	const struct index_template *template = index_template(&object->index, entry_of(object, function)->index);
	uint64_t stub;
	const struct stub_cell *cell = entry_cell(load, function, &stub);

	if (!template || !cell)
		return 0;
	for (size_t i = 0; i < sizeof(template->inside); i++)
		inside[i] = template->inside[i];
	/* Where it goes on in the stub of a probe, the copy is still there for threads that are sent to it. */
	return cell->body && !entry_calls_behind(object, entry_of(object, function)->index) ? own_copy(load, function)
											      : cell->body;
}

int64_t entry_displacing(const struct load *load, const struct plan_window *window)
{
	const struct object *object = load->object;
	int64_t function = load_code_function_at(object, window->address);

	/* One that begins with an endbr64 has its site behind that. */
	if (function < 0 || !entry_is(object, (uint32_t)function))
		function = load_code_function_at(object, window->address - 4);
	if (function < 0 || !entry_is(object, (uint32_t)function))
		return -1;
	const uint32_t number = (uint32_t)function;
	const struct index_function *f = entry_of(object, number)->index;
	const unsigned before = f->form == INDEX_FORM_PADDING ? INDEX_JUMP + f->skip : 0;
	if (f->address + f->skip != window->address || f->length != window->length ||
		before + window->length > f->originals || entry_calls_behind(object, f) ||
		!sys_same(f->original + before, window->original, window->length))
		return -1;
	/* Else what is behind its jump is not what the file has there. */
	return load_code_is_on(load, number) && !entry_stays(load, number) ? function : -1;
}

uint64_t entry_goes_on(const struct load *load, uint32_t function)
{
	uint64_t stub;
	const struct stub_cell *cell = entry_cell(load, function, &stub);

	return cell ? __atomic_load_n(&cell->body, __ATOMIC_RELAXED) : 0; /* relaxed: lock held */
}

void entry_go_on(struct load *load, uint32_t function, uint64_t stub)
{
	uint64_t unused;
	struct stub_cell *cell = entry_cell(load, function, &unused);

	/* Release; pairs with the load by `rest` of the function's stub (stub.h): the new stub was written before. */
	if (cell && cell->body)
		__atomic_store_n(&cell->body, stub ? stub : own_copy(load, function), __ATOMIC_RELEASE);
}

bool entry_is_on(const struct load *load, uint32_t function)
{
	uint64_t stub;
	const struct stub_cell *cell = entry_cell(load, function, &stub);

	/* Relaxed: it is written with the lock held. */
	return cell && stub_entry_is_on(cell->body, __atomic_load_n(&cell->target, __ATOMIC_RELAXED));
}

void entry_turn(struct load *load, uint32_t function, int on)
{
	uint64_t stub;
	struct stub_cell *cell = entry_cell(load, function, &stub);

	if (!cell || !cell->body)
		return;
	/* Release; pairs with the load by the stub's cmpq (stub.h), as in switch_switch(). */
	__atomic_store_n(&cell->target, on ? stub_entry_rest(stub) : 0, __ATOMIC_RELEASE);
}

uint64_t entry_past(uint64_t address)
{
	for (const struct load *load = loads; load; load = load->next) {
		if (load->state != LOAD_OPEN || address < load->start || address >= load->end)
			continue;
		int64_t function = load_code_function_at(load->object, address - load->base);
		uint64_t stub;
		const struct stub_cell *cell = function >= 0 && entry_is(load->object, (uint32_t)function)
						       ? entry_cell(load, (uint32_t)function, &stub)
						       : NULL;
		if (!cell || !cell->body || entry_stays(load, (uint32_t)function))
			return address;
		/* Not in the stub of probes. */
		return entry_calls_behind(load->object, entry_of(load->object, (uint32_t)function)->index)
			       ? cell->body
			       : own_copy(load, (uint32_t)function);
	}
	return address;
}
