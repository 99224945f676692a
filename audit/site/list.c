/* SPDX-License-Identifier: MIT */
#include "audit/site/list.h"

#include <errno.h> /* ENOMEM */
#include <stdbool.h>

#include "audit/site/elf_file.h"
#include "audit/site/frame.h"
#include "audit/site/relocation.h"
#include "audit/site/symbol.h"

/* The functions before aliases are merged: the order in the array is the order of preference. */
struct list {
	struct site_symbol *symbol;
	size_t count;
};

static void add(struct list *list, struct site_file *file, const struct site_symbol *symbol)
{
	size_t size;

	if (site_file_code(file, symbol->address, &size))
		list->symbol[list->count++] = *symbol;
}

static bool is_exported(const Elf64_Sym *symbol)
{
	int bind = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return site_is_function(symbol) && (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
	       (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/* Unwind information also covers the PLT, which has no functions of its own. */
static bool in_plt(struct site_file *file, uint64_t address)
{
	for (size_t i = 1; i < file->sections; i++) {
		Elf64_Shdr section;
		if (site_section(file, i, &section) && address - section.sh_addr < section.sh_size &&
			section.sh_flags & SHF_EXECINSTR && site_section_named(file, &section, ".plt", 1))
			return true;
	}
	return false;
}

static int gather(struct site_set *set, struct site_file *file, struct list *list)
{
	struct site_symtab dynsym = site_dynsym(file);
	struct site_names *names = &file->names;
	size_t frames = names->all ? 0 : file->frames.count;
	Elf64_Sym symbol;
	int r = 0;

	list->symbol = arena_alloc(&file->scratch, (names->count + dynsym.count + frames) * sizeof(*list->symbol));
	if (!list->symbol)
		return -ENOMEM;
	for (size_t i = 0; i < names->count && !r; i++) {
		site_read(&symbol, names->table.symbol + names->key[i].index * sizeof(symbol));
		const char *name = site_symbol_name(&names->table, &symbol, &set->arena, &r);
		add(list, file, &(struct site_symbol){symbol.st_value, symbol.st_size, name, 0});
	}
	for (size_t i = 0; i < dynsym.count && !r; i++) {
		site_read(&symbol, dynsym.symbol + i * sizeof(symbol));
		if (!is_exported(&symbol))
			continue;
		const char *name = site_symbol_name(&dynsym, &symbol, &set->arena, &r);
		add(list, file, &(struct site_symbol){symbol.st_value, symbol.st_size, name, 1});
	}
	for (size_t i = 0; i < frames && !r; i++) {
		uint64_t start = site_frame(file, i);
		if (!in_plt(file, start))
			add(list, file, &(struct site_symbol){start, site_frame_size(file, i), NULL, 0});
	}
	return r;
}

/* One entry per address: the first name, the first size that is known. */
static int merge(struct site_set *set, struct site_file *file, const struct list *list, struct site_symbols *symbols)
{
	struct site_key *key = arena_alloc(&file->scratch, list->count * sizeof(*key));
	struct site_symbol *last = NULL;

	symbols->symbol = arena_alloc(&set->arena, list->count * sizeof(*symbols->symbol));
	if (!key || !symbols->symbol)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		key[i] = (struct site_key){list->symbol[i].address, (uint32_t)i};
	if (site_sort(&file->scratch, key, list->count))
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		const struct site_symbol *symbol = &list->symbol[key[i].index];
		if (!last || last->address != symbol->address) {
			last = &symbols->symbol[symbols->count++];
			*last = *symbol;
			continue;
		}
		last->exported |= symbol->exported;
		if (!last->name)
			last->name = symbol->name;
		if (!last->size)
			last->size = symbol->size;
	}
	return 0;
}

int site_symbols(struct site_set *set, int fd, struct site_symbols *symbols)
{
	struct site_file file;
	struct list list = {0};
	int r;

	*symbols = (struct site_symbols){0};
	r = site_file_open(&file, fd);
	if (r)
		return r;
	r = site_names_load(&file);
	if (!r)
		r = gather(set, &file, &list);
	if (!r)
		r = merge(set, &file, &list, symbols);
	symbols->calls = site_jump_slots(&file);
	site_file_close(&file);
	return r;
}
