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

uint64_t entry_copy(const struct load *load, uint32_t function, uint8_t inside[INDEX_JUMP - 1])
{
	const struct object *object = load->object;
	const struct index_template *template = index_template(&object->index, entry_of(object, function)->index);
	uint64_t stub;
	const struct stub_cell *cell = entry_cell(load, function, &stub);

	if (!template || !cell)
		return 0;
	sys_copy(inside, template->inside, sizeof(template->inside));
	return cell->body;
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
		return cell && cell->body && !entry_stays(load, (uint32_t)function) ? cell->body : address;
	}
	return address;
}
