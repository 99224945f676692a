/* SPDX-License-Identifier: MIT */
#include "audit/site/site.h"

#include <errno.h>  /* ENOMEM */
#include <string.h> /* memcpy, memcmp */

#include "audit/site/file.h"

/* Looks through notes for the build-id. */
static int find_build_id(struct site_set *set, struct site_note *note)
{
	while (site_next_note(note)) {
		if (note->head.n_type == NT_GNU_BUILD_ID && note->head.n_namesz == 4 && !memcmp(note->name, "GNU", 4) &&
			note->head.n_descsz && note->head.n_descsz <= sizeof(set->build_id)) {
			memcpy(set->build_id, note->description, note->head.n_descsz);
			set->build_id_len = note->head.n_descsz;
			return 1;
		}
	}
	return 0;
}

static void read_build_id(struct site_set *set, const struct site_file *file)
{
	struct site_note note;

	for (size_t i = 0; i < file->segments; i++)
		if (site_notes(file, &file->segment[i], &note) && find_build_id(set, &note))
			return;
	/* A linker script may leave the note out of the segments. */
	for (size_t i = 1; i < file->sections; i++) {
		Elf64_Shdr section;
		if (!site_section(file, i, &section) || section.sh_type != SHT_NOTE)
			continue;
		const uint8_t *p = site_section_bytes(file, &section);
		note = (struct site_note){
			.next = p, .left = p ? section.sh_size : 0, .align = section.sh_addralign == 8 ? 8 : 4
		};
		if (find_build_id(set, &note))
			return;
	}
}

/* The maps of one kind. */
struct maps {
	const char *name;
	size_t entry_size;
	struct site_map *first, *last;
	size_t count; /* of entries */
	uint64_t bytes;
	int damaged;
};

static int add_map(struct maps *maps, struct site_file *file, const Elf64_Shdr *section)
{
	const uint8_t *bytes = site_section_bytes(file, section);
	struct site_map *map;

	/* Sections lie side by side. Those of a file that was made up may all be the same bytes, without end. */
	if (!bytes || section->sh_size % maps->entry_size || section->sh_size > file->size - maps->bytes) {
		maps->damaged = 1;
		return 0;
	}
	maps->bytes += section->sh_size;
	if (!section->sh_size)
		return 0;
	map = arena_alloc(&file->scratch, sizeof(*map));
	if (!map)
		return -ENOMEM;
	*map = (struct site_map){NULL, bytes, section->sh_addr, section->sh_size / maps->entry_size};
	maps->count += map->count;
	if (maps->last)
		maps->last->next = map;
	else
		maps->first = map;
	maps->last = map;
	return 0;
}

/* What a patch of the site writes, and what it covers. */
static void site_range(const struct site *site, uint64_t *start, uint64_t *end)
{
	*start = site->address;
	*end = site->address + site->length;
	if (site->type == SLED_PATCHABLE_HOT)
		*start -= SLED_JUMP_SIZE;
	else if (site->type == SLED_PATCHABLE_HOT_CET)
		*start -= SLED_JUMP_SIZE + SLED_ENDBR64_SIZE;
}

/*
 * No two sites may share a byte: patching one would spoil the other, whatever the tables say. Refuses the functions of
 * those that do, and closes the gaps that this leaves. No compiler writes such tables, so all of this is for damaged
 * files.
 */
static int refuse_overlaps(struct site_set *set, struct site_file *file)
{
	uint64_t start, end, high = 0;
	uint32_t last = 0, n = 0, damaged = 0;
	struct site_key *key = NULL;

	for (uint32_t i = 0; i < set->sites; i++) {
		site_range(&set->site[i], &start, &end);
		damaged |= start < high || end <= start;
		high = end;
	}
	if (!damaged)
		return 0;

	/* Overlapping, or only not in order of address. */
	key = arena_alloc(&file->scratch, set->sites * sizeof(*key));
	if (!key)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->sites; i++) {
		site_range(&set->site[i], &start, &end);
		key[i] = (struct site_key){start, i};
	}
	if (site_sort(&file->scratch, key, set->sites))
		return -ENOMEM;
	high = 0;
	for (uint32_t k = 0; k < set->sites; k++) {
		const struct site *site = &set->site[key[k].index];
		site_range(site, &start, &end);
		if (start < high || end <= start) {
			set->function[site->function].reason = TRACE_REASON_DAMAGED;
			set->function[last].reason = TRACE_REASON_DAMAGED;
		}
		if (end > high) {
			high = end;
			last = site->function;
		}
	}
	uint32_t first_guard_site = set->first_guard_site;
	for (uint32_t f = 0; f < set->functions; f++) {
		struct site_function *function = &set->function[f];
		uint32_t first = function->first;
		function->first = n;
		if (f == set->first_guard)
			set->first_guard_site = n;
		if (function->reason)
			function->count = 0;
		for (uint32_t i = 0; i < function->count; i++) {
			if (f >= set->first_guard)
				set->guarded[n - set->first_guard_site] = set->guarded[first + i - first_guard_site];
			set->site[n++] = set->site[first + i];
		}
	}
	set->sites = n;
	return 0;
}

static int scan_maps(struct site_set *set, struct site_file *file, struct maps *xray, struct maps *patchable,
	const struct site_guards *guards)
{
	size_t total = xray->count + patchable->count + guards->count;
	int r = 0;

	if (!total)
		return 0;
	if (total > UINT32_MAX) {
		xray->damaged = patchable->damaged = 1;
		return 0;
	}
	set->site = arena_alloc(&set->arena, total * sizeof(*set->site));
	set->function = arena_alloc(&set->arena, total * sizeof(*set->function));
	if (!set->site || !set->function)
		return -ENOMEM;
	if (xray->count)
		r = site_scan_xray(set, file, xray->first);
	set->first_patchable = set->functions;
	if (!r && patchable->count)
		r = site_scan_patchable(set, file, patchable->first);
	set->first_guard = set->functions;
	set->first_guard_site = set->sites;
	if (!r && guards->count)
		r = site_scan_guards(set, file, guards);
	if (!r)
		r = refuse_overlaps(set, file);
	return r ? r : site_read_events(set, file);
}

static int scan(struct site_set *set, struct site_file *file, unsigned kinds)
{
	struct maps maps[] = {
		[TRACE_KIND_XRAY] = {.name = "xray_instr_map", .entry_size = SITE_XRAY_ENTRY_SIZE},
		[TRACE_KIND_PATCHABLE] = {.name = "__patchable_function_entries",
			.entry_size = SITE_PATCHABLE_ENTRY_SIZE},
	};
	struct site_guards guards = {0};
	enum trace_reason nothing = TRACE_REASON_NO_SITES;
	int r = 0;

	if (!file->sections)
		nothing = file->header->e_shoff ? TRACE_REASON_DAMAGED : TRACE_REASON_NO_SECTIONS;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		set->kind_reason[kind] = !(kinds >> kind & 1)		? TRACE_REASON_NOT_SELECTED
					 : kind == TRACE_KIND_GUARD	? TRACE_REASON_NO_SITES
					 : kind <= TRACE_KIND_PATCHABLE ? nothing
									: TRACE_REASON_TRACED;
	if (kinds >> TRACE_KIND_GUARD & 1)
		r = site_read_guards(file, &guards);
	for (size_t i = 1; i < file->sections && !r; i++) {
		Elf64_Shdr section;
		if (!site_section(file, i, &section) || !(section.sh_flags & SHF_ALLOC))
			continue;
		for (int kind = 0; kind <= TRACE_KIND_PATCHABLE && !r; kind++)
			if (kinds >> kind & 1 && site_section_named(file, &section, maps[kind].name, 0))
				r = add_map(&maps[kind], file, &section);
	}
	if (!r)
		r = scan_maps(set, file, &maps[TRACE_KIND_XRAY], &maps[TRACE_KIND_PATCHABLE], &guards);
	for (int kind = 0; kind <= TRACE_KIND_PATCHABLE; kind++)
		if (maps[kind].damaged && set->kind_reason[kind] == TRACE_REASON_NO_SITES)
			set->kind_reason[kind] = TRACE_REASON_DAMAGED;
	if (guards.damaged && set->kind_reason[TRACE_KIND_GUARD] == TRACE_REASON_NO_SITES)
		set->kind_reason[TRACE_KIND_GUARD] = TRACE_REASON_DAMAGED;
	return r;
}

int site_scan(struct site_set *set, int fd, unsigned kinds)
{
	struct site_file file;
	int r;

	*set = (struct site_set){0};
	r = site_file_open(&file, fd);
	if (r)
		return r;
	read_build_id(set, &file);
	set->textrel = file.dynamic.textrel;
	r = scan(set, &file, kinds);
	site_file_close(&file);
	if (r)
		site_free(set);
	return r;
}

void site_free(struct site_set *set)
{
	arena_free(&set->arena);
	*set = (struct site_set){0};
}
