/* SPDX-License-Identifier: MIT */
#include "audit/site/scan_patchable.h"

#include <errno.h> /* ENOMEM */

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/relocation.h"
#include "audit/site/symbol.h"

/* Bytes of the longest row of NOPs before an entry that we follow. */
#define NOPS_BEFORE 1024

static int endbr64_at(struct site_file *file, uint64_t address)
{
	size_t size;
	const uint8_t *p = site_file_code(file, address, &size);

	return p && sled_is_endbr64(p, size);
}

/* The entry E that belongs to the address P of the table, with `nops` bytes of NOPs there. */
static uint64_t find_entry(struct site_file *file, uint64_t p, size_t nops)
{
	int behind = p > SLED_ENDBR64_SIZE && endbr64_at(file, p - SLED_ENDBR64_SIZE);
	uint64_t start;

	if (site_start(file, p, p))
		return p;
	if (behind && site_start(file, p - SLED_ENDBR64_SIZE, p - SLED_ENDBR64_SIZE))
		return p - SLED_ENDBR64_SIZE;
	start = nops ? site_start(file, p + 1, p + nops) : 0;
	if (start)
		return start;
	/* Nothing is known of this function: the file is stripped and has no unwind information. */
	if (behind)
		return p - SLED_ENDBR64_SIZE;
	return nops && endbr64_at(file, p + nops) ? p + nops : p;
}

/* Finds entry and site of the function whose table entry is `p`; `next` is the table entry of the function after it. */
static void scan_function(
	struct site_set *set, struct site_file *file, uint64_t p, uint64_t next, struct site_function *function)
{
	size_t size, nops, before = 0, length;
	const uint8_t *code = site_file_code(file, p, &size);
	struct site site = {.type = SLED_PATCHABLE, .function = set->functions};
	uint64_t limit;

	function->address = p;
	function->first = set->sites;
	if (!code) {
		function->reason = TRACE_REASON_DAMAGED;
		return;
	}
	nops = sled_nops(code, size < NOPS_BEFORE ? size : NOPS_BEFORE);
	function->address = find_entry(file, p, nops);
	if (function->address > p && sled_nops(code, function->address - p) == function->address - p)
		before = function->address - p;

	/*
	 * A function that never returns may consist of NOPs only, followed directly by the next function's NOPs, which
	 * are not its own.
	 */
	code = site_file_code(file, function->address, &size);
	if (!code) {
		function->reason = TRACE_REASON_DAMAGED;
		return;
	}
	if (next > function->address && next - function->address < size)
		size = next - function->address;
	limit = size ? site_start(file, function->address + 1, function->address + size - 1) : 0;
	if (limit > function->address)
		size = limit - function->address;

	site.address = function->address;
	if (sled_is_endbr64(code, size)) {
		site.address += SLED_ENDBR64_SIZE;
		code += SLED_ENDBR64_SIZE;
		size -= SLED_ENDBR64_SIZE;
	}
	length = sled_room(code, size, SLED_JUMP_SIZE);
	if (!length && before >= SLED_JUMP_SIZE) {
		site.type = site.address == function->address ? SLED_PATCHABLE_HOT : SLED_PATCHABLE_HOT_CET;
		length = sled_room(code, size, SLED_HOT_JUMP_SIZE);
	}
	if (!length) {
		int none = !nops && !sled_nop(code, size);
		function->reason = none ? TRACE_REASON_SLED_BYTES : TRACE_REASON_SHORT;
		return;
	}
	site.length = (uint16_t)length;
	set->site[set->sites++] = site;
	function->count = 1;
}

/*
 * Reads the tables: their addresses in ascending order, each once. An address of 0 is a function that the linker
 * dropped.
 */
static int read_maps(
	struct site_file *file, const struct site_maps *maps, struct site_key **result, size_t *result_count)
{
	size_t n = 0, unique = 0;
	struct site_key *key;
	int r;

	key = arena_alloc(&file->scratch, maps->count * sizeof(*key));
	if (!key)
		return -ENOMEM;
	for (const struct site_map *map = maps->first; map; map = map->next) {
		uint64_t *word = arena_alloc(&file->scratch, map->count * sizeof(*word));
		if (!word)
			return -ENOMEM;
		__builtin_memcpy(word, map->bytes, map->count * sizeof(*word));
		site_relocate(file, map->address, word, map->count);
		for (size_t i = 0; i < map->count; i++)
			if (word[i])
				key[n++] = (struct site_key){.address = word[i]};
	}
	r = site_sort(&file->scratch, key, n);
	for (size_t i = 0; i < n; i++)
		if (!unique || key[unique - 1].address != key[i].address)
			key[unique++] = key[i];
	*result = key;
	*result_count = unique;
	return r;
}

int site_scan_patchable(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps)
{
	struct site_key *key;
	size_t count;
	int r = site_names_load(file);

	if (!r)
		r = read_maps(file, maps, &key, &count);
	if (r)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct site_function *function = &set->function[set->functions];
		*function = (struct site_function){.kind = (uint8_t)kind};
		scan_function(set, file, key[i].address, i + 1 < count ? key[i + 1].address : 0, function);
		r = site_describe(file, &set->arena, function);
		if (r)
			return r;
		set->functions++;
	}
	if (count)
		set->kind_reason[kind] = TRACE_REASON_TRACED;
	return 0;
}
