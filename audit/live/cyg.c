/* SPDX-License-Identifier: MIT */
#include "audit/live/cyg.h"

#include "audit/live/announce.h"
#include "runtime/base/search.h"
#include "runtime/calls/cyg_calls.h"
#include "x86_64/confined.h"

/* A word of object.told: the function's address, and its index + 1 above it. */
#define TOLD(address, index) ((uint64_t)(uint32_t)(address) | ((uint64_t)(index) + 1) << 32)

static uint32_t place_of(uint32_t address, uint32_t mask)
{
	return (uint32_t)(address * 0x9e3779b97f4a7c15 >> 32) & mask;
}

/* Index of the function at this link-time address; -1: none. */
static int64_t look(const struct object *object, uint64_t address)
{
	/* Acquire; pairs with the release in make_table(). */
	const uint64_t *told = __atomic_load_n(&object->told, __ATOMIC_ACQUIRE);

	if (told && address <= UINT32_MAX) {
		uint32_t mask = object->told_mask;
		for (uint32_t n = place_of((uint32_t)address, mask); told[n]; n = (n + 1) & mask)
			if ((uint32_t)told[n] == address)
				return (int64_t)(told[n] >> 32) - 1;
		return -1;
	}
	/*
	 * Acquire; pairs with the fence of make_room() (audit/live/entry.c), on x86: arrays move when functions of kind
	 * entry are added, and what they held stays readable where it was.
	 */
	const struct site_function *function = __atomic_load_n(&object->sites.function, __ATOMIC_ACQUIRE);
	const struct site_range *range = &object->sites.of[TRACE_KIND_CYG];
	uint32_t end = range->function + range->functions;
	uint32_t low = SEARCH(i, range->function, end, function[i].address < address);
	return low < end && function[low].address == address ? (int64_t)low : -1;
}

/* Where there is no memory, or addresses are too large, they are searched. Once per object; lock held. */
static void make_table(struct object *object)
{
	const struct site_range *range = &object->sites.of[TRACE_KIND_CYG];
	const struct site_function *function = object->sites.function;
	uint32_t mask = 1, end = range->function + range->functions;

	/* By address, as SEARCH() needs them. */
	if (object->told || range->functions > UINT32_MAX / 4 || function[end - 1].address > UINT32_MAX)
		return;
	while (mask < 2 * range->functions)
		mask = 2 * mask + 1;
	uint64_t *told = arena_alloc(&object->sites.arena, (mask + 1ul) * sizeof(*told));
	if (!told)
		return;
	for (uint32_t i = range->function; i < end; i++) {
		uint32_t n = place_of((uint32_t)function[i].address, mask);
		while (told[n])
			n = (n + 1) & mask;
		told[n] = TOLD(function[i].address, i);
	}
	object->told_mask = mask;
	/* Release; pairs with the acquire in look(). */
	__atomic_store_n(&object->told, told, __ATOMIC_RELEASE);
}

/* The function's id; 0: it is none that we know. *is_on: is it on? */
static uint32_t find(const struct load *load, uint64_t address, int *is_on)
{
	const struct object *object = load->object;
	/* Acquire; as in look(). */
	const uint8_t *marks = __atomic_load_n(&object->marks, __ATOMIC_ACQUIRE);
	int64_t found = marks ? look(object, address - load->base) : -1;

	if (found < 0)
		return 0;
	/* Relaxed: a byte that orders nothing. */
	*is_on = __atomic_load_n(&marks[found], __ATOMIC_RELAXED) & FUNCTION_ON;
	uint32_t base = object->base[TRACE_KIND_CYG];
	return base ? base + (uint32_t)found - object->sites.of[TRACE_KIND_CYG].function : 0;
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
	if (functions && object->base[TRACE_KIND_CYG])
		make_table(object);
	return !functions || object->base[TRACE_KIND_CYG];
}
