/* SPDX-License-Identifier: MIT */
#include "audit/site/site.h"

#include <errno.h>  /* ENOMEM */
#include <string.h> /* memcpy, memcmp */

#include "audit/match/kinds.h"
#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/scan_cyg.h"
#include "audit/site/scan_guard.h"
#include "audit/site/scan_patchable.h"
#include "audit/site/scan_xray.h"
#include "audit/site/symbol.h"

/* Looks for the build-id in notes. */
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

static int add_section(struct site_file *file, struct site_maps *maps, const Elf64_Shdr *section, size_t entry_size)
{
	const uint8_t *bytes = site_section_bytes(file, section);

	/* Sections don't overlap, except in a forged file: there, any number of sections may be the same bytes. */
	if (!bytes || section->sh_size % entry_size || section->sh_size > file->size - maps->bytes) {
		maps->damaged = 1;
		return 0;
	}
	maps->bytes += section->sh_size;
	return section->sh_size ? site_add_map(file, maps, bytes, section->sh_addr, section->sh_size / entry_size) : 0;
}

/*
 * How each kind is found and scanned. Not in the table of kinds, since threads of the program read that, and their code
 * must not need this file.
 */
static const struct scanner {
	size_t entry_size; /* of entries in the sections that announce the kind */
	int (*find)(struct site_file *file, struct site_maps *maps); /* adds maps that are not sections; or NULL */
	int (*scan)(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);
} scanners[TRACE_KIND_COUNT] = {
	[TRACE_KIND_XRAY] = {SITE_XRAY_ENTRY_SIZE, NULL, site_scan_xray},
	[TRACE_KIND_PATCHABLE] = {SITE_PATCHABLE_ENTRY_SIZE, NULL, site_scan_patchable},
	[TRACE_KIND_GUARD] = {0, site_find_guards, site_scan_guards},
	[TRACE_KIND_CYG] = {0, site_find_cyg, site_scan_cyg},
};

/* The bytes that a patch of the site writes or covers. */
static void covered(const struct site *site, uint64_t *start, uint64_t *end)
{
	*start = site->address - sled_head((enum sled_type)site->type);
	*end = site->address + site->length;
}

/* Moves the sites of a kind down to the *n sites that stay before them, leaving out those of refused functions. */
static void close_gaps(struct site_set *set, struct site_range *range, uint32_t *n)
{
	uint32_t first = *n;

	for (uint32_t f = range->function; f < range->function + range->functions; f++) {
		struct site_function *function = &set->function[f];
		uint32_t from = function->first;
		function->first = *n;
		if (function->reason)
			function->count = 0;
		for (uint32_t i = from; i < from + function->count; i++) {
			if (range->target)
				range->target[*n - first] = range->target[i - range->site];
			set->site[(*n)++] = set->site[i];
		}
	}
	range->site = first;
	range->sites = *n - first;
}

/*
 * No two sites may share a byte: patching one would destroy the other. Refuses the functions of sites that do, and
 * closes the gaps that this leaves. No compiler writes such tables, so this concerns only damaged files.
 */
static int refuse_overlaps(struct site_set *set, struct site_file *file)
{
	uint64_t start, end, high = 0;
	uint32_t last = 0, n = 0, damaged = 0;
	struct site_key *key = NULL;

	for (uint32_t i = 0; i < set->sites; i++) {
		covered(&set->site[i], &start, &end);
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
		covered(&set->site[i], &start, &end);
		key[i] = (struct site_key){start, i};
	}
	if (site_sort(&file->scratch, key, set->sites))
		return -ENOMEM;
	high = 0;
	for (uint32_t k = 0; k < set->sites; k++) {
		const struct site *site = &set->site[key[k].index];
		covered(site, &start, &end);
		if (start < high || end <= start) {
			set->function[site->function].reason = TRACE_REASON_DAMAGED;
			set->function[last].reason = TRACE_REASON_DAMAGED;
		}
		if (end > high) {
			high = end;
			last = site->function;
		}
	}
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		close_gaps(set, &set->of[kind], &n);
	set->sites = n;
	return 0;
}

static int scan_maps(struct site_set *set, struct site_file *file, struct site_maps maps[TRACE_KIND_COUNT])
{
	size_t total = 0;
	int r = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		total += maps[kind].count;
	if (!total)
		return 0;
	if (total > UINT32_MAX) {
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			maps[kind].damaged |= maps[kind].count != 0;
		return 0;
	}
	set->site = arena_alloc(&set->arena, total * sizeof(*set->site));
	set->function = arena_alloc(&set->arena, total * sizeof(*set->function));
	if (!set->site || !set->function)
		return -ENOMEM;
	for (int kind = 0; kind < TRACE_KIND_COUNT && !r; kind++) {
		struct site_range *range = &set->of[kind];
		range->function = set->functions;
		range->site = set->sites;
		if (maps[kind].count)
			r = scanners[kind].scan(set, file, kind, &maps[kind]);
		range->functions = set->functions - range->function;
		range->sites = set->sites - range->site;
	}
	if (!r)
		r = refuse_overlaps(set, file);
	return r ? r : site_read_events(set, file);
}

static int scan(struct site_set *set, struct site_file *file, unsigned kinds)
{
	struct site_maps maps[TRACE_KIND_COUNT] = {0};
	enum trace_reason nothing = TRACE_REASON_NO_SITES;
	int r = 0;

	if (!file->sections)
		nothing = file->header->e_shoff ? TRACE_REASON_DAMAGED : TRACE_REASON_NO_SECTIONS;
	for (unsigned kind = 0; kind < TRACE_KIND_COUNT && !r; kind++) {
		set->kind_reason[kind] = !(kinds >> kind & 1)		     ? TRACE_REASON_NOT_SELECTED
					 : kind_has(kind, KIND_BOUND)	     ? TRACE_REASON_TRACED
					 : kind_has(kind, KIND_BY_SECTION) ? nothing
									     : TRACE_REASON_NO_SITES;
		if (kinds >> kind & 1 && scanners[kind].find)
			r = scanners[kind].find(file, &maps[kind]);
	}
	for (size_t i = 1; i < file->sections && !r; i++) {
		Elf64_Shdr section;
		if (!site_section(file, i, &section) || !(section.sh_flags & SHF_ALLOC))
			continue;
		for (unsigned kind = 0; kind < TRACE_KIND_COUNT && !r; kind++)
			if (kinds >> kind & 1 && kind_has(kind, KIND_BY_SECTION) &&
				site_section_named(file, &section, kind_rows[kind].section, 0))
				r = add_section(file, &maps[kind], &section, scanners[kind].entry_size);
	}
	if (!r)
		r = scan_maps(set, file, maps);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (maps[kind].damaged && set->kind_reason[kind] == TRACE_REASON_NO_SITES)
			set->kind_reason[kind] = TRACE_REASON_DAMAGED;
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
