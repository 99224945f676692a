/* SPDX-License-Identifier: MIT */
#include "audit/live/cyg.h"

#include "audit/live/announce.h"
#include "runtime/base/search.h"
#include "runtime/calls/cyg_calls.h"
#include "x86_64/confined.h"

/* The function's id; 0: it is none that we know. *is_on: is it on? */
static uint32_t find(const struct load *load, uint64_t address, int *is_on)
{
	const struct object *object = load->object;
	/*
	 * Acquire, both; pairs with the fence of make_room() (audit/live/entry.c), on x86: arrays move when functions
	 * of kind entry are added, and what they held stays readable where it was.
	 */
	const struct site_function *function = __atomic_load_n(&object->sites.function, __ATOMIC_ACQUIRE);
	const uint8_t *marks = __atomic_load_n(&object->marks, __ATOMIC_ACQUIRE); /* as said */
	const struct site_range *range = &object->sites.of[TRACE_KIND_CYG];
	uint32_t end = range->function + range->functions;

	address -= load->base;
	uint32_t low = SEARCH(i, range->function, end, function[i].address < address);
	if (!marks || low == end || function[low].address != address)
		return 0;
	/* Relaxed: a byte that orders nothing. */
	*is_on = __atomic_load_n(&marks[low], __ATOMIC_RELAXED) & FUNCTION_ON;
	uint32_t base = object->base[TRACE_KIND_CYG];
	return base ? base + low - range->function : 0;
}

/* Where the return address of the call to us lies: the trampoline has put the stack back as it was. */
#define SLOT ((uint64_t)(uintptr_t)__builtin_dwarf_cfa() - 8)

void cyg_enter(uint64_t function, uint64_t site, const struct cyg_side *side)
{
	int is_on;
	uint32_t id = confined_strictly() ? 0 : find(side->load, function, &is_on);

	if (id && is_on)
		cyg_calls_enter(id, site, SLOT);
	if (side->next)
		side->next(function, site);
}

void cyg_leave(uint64_t function, uint64_t site, const struct cyg_side *side)
{
	int is_on;
	uint32_t id = confined_strictly() ? 0 : find(side->load, function, &is_on);

	if (id)
		cyg_calls_leave(id, site, SLOT, is_on);
	if (side->next)
		side->next(function, site);
}

int cyg_take_ids(struct object *object)
{
	uint32_t functions = object->sites.of[TRACE_KIND_CYG].functions;

	if (functions && !object->base[TRACE_KIND_CYG])
		object->base[TRACE_KIND_CYG] = announce_take_ids(object, functions);
	return !functions || object->base[TRACE_KIND_CYG];
}
