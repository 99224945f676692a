/* SPDX-License-Identifier: MIT */
/*
 * Guards (XAUDIT_IF_TRACED of runtime/api/xaudit.h). A note of the program names a table of {site, target}, each
 * relative to its own field: the NOP, and where the guarded code begins. The note is found by program headers, so a
 * file needs no section headers. Linkers that see a file made from LTO beside others may keep the note twice.
 */
#include "audit/site/file.h"

#include <errno.h>  /* ENOMEM */
#include <string.h> /* memcmp */

#include "runtime/api/table.h" /* struct guard_note */

#define ENTRY_SIZE sizeof(struct guard_entry)

/* Different tables in one file: more than one needs a linker script. */
#define TABLES 8

struct table {
	uint64_t start, end;
};

/* The table that a note names, unless it is known. Returns its entries, 0 or -1: there is no such table. */
static int64_t add_table(
	const struct site_file *file, struct table *table, size_t *tables, uint64_t at, const struct guard_note *note)
{
	uint64_t start = at + offsetof(struct guard_note, start) + (uint64_t)note->start;
	uint64_t end = at + offsetof(struct guard_note, end) + (uint64_t)note->end;
	size_t size;

	for (size_t i = 0; i < *tables; i++)
		if (table[i].start == start && table[i].end == end)
			return 0;
	if (note->version != GUARD_VERSION || note->entry_size != ENTRY_SIZE || end < start ||
		(end - start) % ENTRY_SIZE || *tables == TABLES)
		return -1;
	if (start == end)
		return 0;
	if (!site_file_at(file, start, &size) || size < end - start)
		return -1;
	table[(*tables)++] = (struct table){start, end};
	return (int64_t)((end - start) / ENTRY_SIZE);
}

int site_read_guards(struct site_file *file, struct site_guards *guards)
{
	struct table table[TABLES];
	size_t tables = 0, count = 0, size;

	*guards = (struct site_guards){0};
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
			int64_t n = add_table(file, table, &tables, note.address, &description);
			if (n < 0)
				guards->damaged = 1;
			else
				count += (size_t)n;
		}
	}
	if (!count)
		return 0;
	guards->entry = arena_alloc(&file->scratch, count * sizeof(*guards->entry));
	if (!guards->entry)
		return -ENOMEM;
	for (size_t t = 0; t < tables; t++) {
		const uint8_t *p = site_file_at(file, table[t].start, &size);
		for (uint64_t at = table[t].start; at < table[t].end; at += ENTRY_SIZE, p += ENTRY_SIZE) {
			struct guard_entry entry;
			site_read(&entry, p);
			guards->entry[guards->count++] = (struct site_guard){
				at + offsetof(struct guard_entry, site) + (uint64_t)entry.site,
				at + offsetof(struct guard_entry, target) + (uint64_t)entry.target,
			};
		}
	}
	return 0;
}

static enum trace_reason check(struct site_file *file, const struct site_guard *guard)
{
	int64_t distance = (int64_t)(guard->target - guard->site);
	size_t size, rest;
	const uint8_t *p = site_file_code(file, guard->site, &size);

	if (!p)
		return TRACE_REASON_DAMAGED;
	if (!sled_is_guard(p, size))
		return TRACE_REASON_SLED_BYTES;
	/* A jump goes so far, and into other code than itself. */
	if (distance != (int32_t)distance || (distance >= 0 && distance < SLED_JUMP_SIZE) ||
		!site_file_code(file, guard->target, &rest))
		return TRACE_REASON_DAMAGED;
	return TRACE_REASON_TRACED;
}

/* What the compiler moved out of a function, "f.cold" or "f.cold.1", belongs to it. */
static void name_whole(struct site_set *set, struct site_function *function, int *r)
{
	const char *cold = function->name ? strstr(function->name, ".cold") : NULL;

	if (!cold || cold == function->name || (cold[5] && cold[5] != '.'))
		return;
	function->name = arena_string(&set->arena, function->name, (size_t)(cold - function->name));
	if (!function->name)
		*r = -ENOMEM;
}

/* One entry: a site of the function that holds it, or a function of its own that is refused. */
static int add(struct site_set *set, struct site_file *file, const struct site_guard *guard)
{
	enum trace_reason reason = check(file, guard);
	struct site_function *last = set->functions > set->first_guard ? &set->function[set->functions - 1] : NULL;
	struct site_function found = {.kind = TRACE_KIND_GUARD};
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
		last->kind = TRACE_KIND_GUARD;
		last->reason = (uint8_t)reason;
		last->first = set->sites;
		last->count = reason == TRACE_REASON_TRACED;
	}
	if (reason != TRACE_REASON_TRACED)
		return 0;
	set->guarded[set->sites - set->first_guard_site] = (int32_t)(guard->target - guard->site);
	set->site[set->sites++] = (struct site){
		.address = guard->site,
		.type = SLED_GUARD,
		.length = SLED_JUMP_SIZE,
		.function = set->functions - 1,
	};
	return 0;
}

int site_scan_guards(struct site_set *set, struct site_file *file, const struct site_guards *guards)
{
	struct site_key *key = arena_alloc(&file->scratch, guards->count * sizeof(*key));
	const struct site_guard *last = NULL;
	int r = key ? site_names_load(file) : -ENOMEM;

	set->guarded = arena_alloc(&set->arena, guards->count * sizeof(*set->guarded));
	if (!set->guarded)
		return -ENOMEM;
	for (size_t i = 0; key && i < guards->count; i++)
		key[i] = (struct site_key){guards->entry[i].site, (uint32_t)i};
	if (!r)
		r = site_sort(&file->scratch, key, guards->count);
	for (size_t i = 0; i < guards->count && !r; i++) {
		const struct site_guard *guard = &guards->entry[key[i].index];
		if (!last || last->site != guard->site || last->target != guard->target)
			r = add(set, file, guard);
		last = guard;
	}
	set->kind_reason[TRACE_KIND_GUARD] = TRACE_REASON_TRACED;
	return r;
}
