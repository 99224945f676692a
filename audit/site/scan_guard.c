/* SPDX-License-Identifier: MIT */
#include "audit/site/scan_guard.h"

#include <errno.h>  /* ENOMEM */
#include <string.h> /* memcmp */

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/symbol.h"
#include "runtime/api/table.h" /* struct guard_note */

#define ENTRY_SIZE sizeof(struct guard_entry)

/* Different tables in one file: more than one needs a linker script. */
#define TABLES 8

struct table {
	uint64_t start, end;
};

/* Keeps the table that a note names, unless it is known or empty. Returns 0 when there is no such table. */
static int add_table(
	const struct site_file *file, struct table *table, size_t *tables, uint64_t at, const struct guard_note *note)
{
	uint64_t start = at + offsetof(struct guard_note, start) + (uint64_t)note->start;
	uint64_t end = at + offsetof(struct guard_note, end) + (uint64_t)note->end;
	size_t size;

	for (size_t i = 0; i < *tables; i++)
		if (table[i].start == start && table[i].end == end)
			return 1;
	if (note->version != GUARD_VERSION || note->entry_size != ENTRY_SIZE || end < start ||
		(end - start) % ENTRY_SIZE || *tables == TABLES)
		return 0;
	if (start == end)
		return 1;
	if (!site_file_at(file, start, &size) || size < end - start)
		return 0;
	table[(*tables)++] = (struct table){start, end};
	return 1;
}

int site_find_guards(struct site_file *file, struct site_maps *maps)
{
	struct table table[TABLES];
	size_t tables = 0, size;
	int r = 0;

	for (size_t i = 0; i < file->segments; i++) {
		struct site_note note = {0};
		if (!site_notes(file, &file->segment[i], &note))
			continue;
		while (site_next_note(&note)) {
			struct guard_note description;
			if (note.head.n_type != GUARD_NOTE || note.head.n_namesz != sizeof(API_OWNER) ||
				note.head.n_descsz < sizeof(description) ||
				memcmp(note.name, API_OWNER, sizeof(API_OWNER)))
				continue;
			site_read(&description, note.description);
			if (!add_table(file, table, &tables, note.address, &description))
				maps->damaged = 1;
		}
	}
	for (size_t t = 0; t < tables && !r; t++)
		r = site_add_map(file, maps, site_file_at(file, table[t].start, &size), table[t].start,
			(table[t].end - table[t].start) / ENTRY_SIZE);
	return r;
}

/* Link-time addresses of the NOP and of the guarded code, from the file. */
struct guard {
	uint64_t site, target;
};

/* All entries, in order of their sites. Returns 0 or -ENOMEM. */
static int read_guards(
	struct site_file *file, const struct site_maps *maps, struct guard **guards, struct site_key **keys)
{
	struct guard *guard = arena_alloc(&file->scratch, maps->count * sizeof(*guard));
	struct site_key *key = arena_alloc(&file->scratch, maps->count * sizeof(*key));
	uint32_t n = 0;

	*guards = guard;
	*keys = key;
	if (!guard || !key)
		return -ENOMEM;
	for (const struct site_map *map = maps->first; map; map = map->next) {
		for (size_t i = 0; i < map->count; i++, n++) {
			uint64_t at = map->address + i * ENTRY_SIZE;
			struct guard_entry entry;
			site_read(&entry, map->bytes + i * ENTRY_SIZE);
			guard[n] = (struct guard){
				at + offsetof(struct guard_entry, site) + (uint64_t)entry.site,
				at + offsetof(struct guard_entry, target) + (uint64_t)entry.target,
			};
			key[n] = (struct site_key){guard[n].site, n};
		}
	}
	return site_sort(&file->scratch, key, maps->count);
}

static enum trace_reason check(struct site_file *file, const struct guard *guard)
{
	int64_t distance = (int64_t)(guard->target - guard->site);
	size_t size, rest;
	const uint8_t *p = site_file_code(file, guard->site, &size);

	if (!p)
		return TRACE_REASON_DAMAGED;
	if (!sled_is_guard(p, size))
		return TRACE_REASON_SLED_BYTES;
	/* The target must be within a jump's reach, and outside of the jump itself. */
	if (distance != (int32_t)distance || (distance >= 0 && distance < SLED_JUMP_SIZE) ||
		!site_file_code(file, guard->target, &rest))
		return TRACE_REASON_DAMAGED;
	return TRACE_REASON_TRACED;
}

/* A part that the compiler moved out of a function, "f.cold" or "f.cold.1", belongs to that function. */
static void name_whole(struct site_set *set, struct site_function *function, int *r)
{
	const char *cold = function->name ? strstr(function->name, ".cold") : NULL;

	if (!cold || cold == function->name || (cold[5] && cold[5] != '.'))
		return;
	function->name = arena_string(&set->arena, function->name, (size_t)(cold - function->name));
	if (!function->name)
		*r = -ENOMEM;
}

/* Adds one entry: a site of the function that holds it, or a refused function of its own. */
static int add(struct site_set *set, struct site_file *file, int kind, const struct guard *guard)
{
	enum trace_reason reason = check(file, guard);
	const struct site_range *range = &set->of[kind];
	struct site_function *last = set->functions > range->function ? &set->function[set->functions - 1] : NULL;
	struct site_function found = {0};
	int known, r = 0;

	if (last && last->reason == TRACE_REASON_TRACED && last->size && guard->site - last->address < last->size &&
		last->count < UINT16_MAX) {
		known = 1;
		found = *last;
	} else {
		known = site_holder(file, &set->arena, guard->site, &found, &r);
		if (!r)
			name_whole(set, &found, &r);
		if (r)
			return r;
	}
	if (reason != TRACE_REASON_TRACED || !known) {
		found.address = guard->site;
		found.size = 0;
	}
	if (reason == TRACE_REASON_TRACED && last && last->address == found.address &&
		last->reason == TRACE_REASON_TRACED && last->count < UINT16_MAX) {
		last->count++;
	} else {
		last = &set->function[set->functions++];
		*last = found;
		last->kind = (uint8_t)kind;
		last->reason = (uint8_t)reason;
		last->first = set->sites;
		last->count = reason == TRACE_REASON_TRACED;
	}
	if (reason != TRACE_REASON_TRACED)
		return 0;
	range->target[set->sites - range->site] = (int32_t)(guard->target - guard->site);
	set->site[set->sites++] = (struct site){
		.address = guard->site,
		.type = SLED_GUARD,
		.length = SLED_JUMP_SIZE,
		.function = set->functions - 1,
	};
	return 0;
}

int site_scan_guards(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps)
{
	struct guard *guard;
	struct site_key *key;
	const struct guard *last = NULL;
	int r = site_names_load(file);

	set->of[kind].target = arena_alloc(&set->arena, maps->count * sizeof(*set->of[kind].target));
	if (!r)
		r = set->of[kind].target ? read_guards(file, maps, &guard, &key) : -ENOMEM;
	for (size_t i = 0; i < maps->count && !r; i++) {
		const struct guard *next = &guard[key[i].index];
		if (!last || last->site != next->site || last->target != next->target)
			r = add(set, file, kind, next);
		last = next;
	}
	set->kind_reason[kind] = TRACE_REASON_TRACED;
	return r;
}
