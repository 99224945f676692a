/* SPDX-License-Identifier: MIT */
#include "audit/site/scan_cyg.h"

#include <errno.h>  /* ENOMEM */
#include <stdbool.h>
#include <string.h> /* memcmp */

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/symbol.h"

#define PLACES 8 /* words that relocations bind, and jumps through these */

struct places {
	uint64_t at[PLACES];
	size_t count;
};

static void add(struct places *places, uint64_t at)
{
	if (places->count < PLACES)
		places->at[places->count++] = at;
}

static int has(const struct places *places, uint64_t at)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->at[i] == at)
			return 1;
	return 0;
}

/* Index of the undefined symbol; 0: there is none. */
static size_t find_symbol(const struct site_file *file)
{
	static const char name[] = "__cyg_profile_func_enter";
	struct site_symtab table = site_dynsym(file);
	Elf64_Sym symbol;

	for (size_t i = 1; i < table.count; i++) {
		site_read(&symbol, table.symbol + i * sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < table.text_size &&
			table.text_size - symbol.st_name >= sizeof(name) &&
			!memcmp(table.text + symbol.st_name, name, sizeof(name)))
			return i;
	}
	return 0;
}

/* The words that relocations bind to the symbol. */
static void find_words(const struct site_file *file, uint64_t table, uint64_t size, size_t symbol, struct places *words)
{
	size_t left = 0;
	const uint8_t *p = table ? site_file_at(file, table, &left) : NULL;
	Elf64_Rela rela;

	if (left > size)
		left = size;
	for (; p && left >= sizeof(rela); p += sizeof(rela), left -= sizeof(rela)) {
		site_read(&rela, p);
		if (ELF64_R_SYM(rela.r_info) == symbol)
			add(words, rela.r_offset);
	}
}

/* Where the instruction's last four bytes, at p, lead to; the code begins at `address`. */
static uint64_t target(const uint8_t *code, uint64_t address, const uint8_t *p)
{
	int32_t distance;

	memcpy(&distance, p, sizeof(distance));
	return address + (uint64_t)(p - code) + 4 + (uint64_t)(int64_t)distance;
}

/* jmp *WORD(%rip), maybe with a prefix (f2), and behind an endbr64: calls may lead to any of these beginnings. */
static void find_jumps(const uint8_t *code, size_t size, uint64_t address, const struct places *words,
	struct places *jumps)
{
	for (size_t i = 0; i + 6 <= size; i++)
		if (code[i] == 0xff && code[i + 1] == 0x25 && has(words, target(code, address, code + i + 2)))
			add(jumps, address + i);
}

static bool is_jump(const struct places *jumps, uint64_t at)
{
	for (size_t i = 0; i < jumps->count; i++)
		if (jumps->at[i] - at <= 5)
			return true;
	return false;
}

/* The calls, by address: writes up to `room` and returns their number. */
static size_t find_calls(const uint8_t *code, size_t size, uint64_t address, const struct places *words,
	const struct places *jumps, uint64_t *call, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i + 6 <= size; i++) {
		int is = (code[i] == 0xe8 && jumps->count && is_jump(jumps, target(code, address, code + i + 1))) ||
			 (code[i] == 0xff && code[i + 1] == 0x15 && has(words, target(code, address, code + i + 2)));
		if (!is)
			continue;
		if (n < room)
			call[n] = address + i;
		n++;
	}
	return n;
}

int site_find_cyg(struct site_file *file, struct site_maps *maps)
{
	struct places words = { 0 }, jumps = { 0 };
	size_t symbol = find_symbol(file), size, n = 0;
	uint64_t *call = NULL;
	const uint8_t *code;

	if (!symbol)
		return 0;
	find_words(file, file->dynamic.rela, file->dynamic.rela_size, symbol, &words);
	find_words(file, file->dynamic.jmprel, file->dynamic.jmprel_size, symbol, &words);
	for (size_t i = 0; i < file->segments; i++)
		if (file->segment[i].p_type == PT_LOAD && file->segment[i].p_flags & PF_X &&
			(code = site_file_code(file, file->segment[i].p_vaddr, &size)))
			find_jumps(code, size, file->segment[i].p_vaddr, &words, &jumps);
	/* First their number, then themselves. */
	for (int round = 0; round < 2; round++) {
		size_t room = n;
		if (round && !(call = arena_alloc(&file->scratch, room * sizeof(*call))))
			return -ENOMEM;
		n = 0;
		for (size_t i = 0; i < file->segments; i++)
			if (file->segment[i].p_type == PT_LOAD && file->segment[i].p_flags & PF_X &&
				(code = site_file_code(file, file->segment[i].p_vaddr, &size)))
				n += find_calls(code, size, file->segment[i].p_vaddr, &words, &jumps,
					call ? call + n : NULL, room - n * (round != 0));
		if (!n)
			return 0;
	}
	return site_add_map(file, maps, (const uint8_t *)call, 0, n);
}

int site_scan_cyg(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps)
{
	const uint8_t *p = maps->first->bytes;
	struct site_function *last = NULL;
	int r = site_names_load(file);

	/* Segments, and so calls, are in order of address in a file that is not damaged. */
	for (size_t i = 0; i < maps->count && !r; i++, p += sizeof(uint64_t)) {
		struct site_function *function = &set->function[set->functions];
		uint64_t call;
		site_read(&call, p);
		if (last && call >= last->address && call - last->address < last->size)
			continue;
		*function = (struct site_function){ .kind = (uint8_t)kind, .first = set->sites };
		if (!site_holder(file, &set->arena, call, function, &r) || r ||
			(last && function->address <= last->address))
			continue;
		last = function;
		set->functions++;
	}
	if (last)
		set->kind_reason[kind] = TRACE_REASON_TRACED;
	return r;
}
