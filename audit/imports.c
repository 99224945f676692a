/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/imports.h"

#include <string.h> /* strcmp */

#include "audit/symbol.h"

static const char *const names[IMPORTS] = {
	[IMPORT_CUSTOM_EVENT] = "__xray_CustomEvent",
	[IMPORT_TYPED_EVENT] = "__xray_TypedEvent",
	[IMPORT_REGISTER] = "__xray_register_dso",
	[IMPORT_DEREGISTER] = "__xray_deregister_dso",
	[IMPORT_FUNCTION_HANDLER] = "_ZN6__xray19XRayPatchedFunctionE",
	[IMPORT_ARGUMENT_HANDLER] = "_ZN6__xray13XRayArgLoggerE",
	[IMPORT_CUSTOM_HANDLER] = "_ZN6__xray22XRayPatchedCustomEventE",
	[IMPORT_TYPED_HANDLER] = "_ZN6__xray21XRayPatchedTypedEventE",
	[IMPORT_DLCLOSE] = "dlclose",
};

/* Of one object. Pointers are NULL where the table is missing, or lies outside. */
struct tables {
	const struct load *load;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const Elf64_Rela *rela, *plt;
	uint64_t rela_count, plt_count, relative;
};

static int is_inside(const struct load *load, const void *p, uint64_t size)
{
	uint64_t address = (uint64_t)(uintptr_t)p;

	return address >= load->start && address <= load->end && size <= load->end - address;
}

/* ld.so makes the values addresses, except in objects whose dynamic section is read-only. */
static const void *place(const struct load *load, uint64_t value, uint64_t size)
{
	if (value < load->start)
		value += load->base;
	const void *p = (const void *)(uintptr_t)value;
	return value % 4 == 0 && is_inside(load, p, size) ? p : NULL;
}

/* Returns 0 when there is no symbol table. */
static int read_tables(struct tables *t, const struct load *load)
{
	uint64_t symbols = 0, strings = 0, rela = 0, plt = 0;

	*t = (struct tables){ .load = load };
	for (const Elf64_Dyn *d = load->map->l_ld; d && d->d_tag != DT_NULL; d++) {
		uint64_t value = d->d_un.d_val;
		switch (d->d_tag) {
		case DT_SYMTAB: symbols = value; break;
		case DT_STRTAB: strings = value; break;
		case DT_GNU_HASH: t->gnu_hash = place(load, value, 16); break;
		case DT_HASH: t->hash = place(load, value, 8); break;
		case DT_RELA: rela = value; break;
		case DT_RELASZ: t->rela_count = value / sizeof(Elf64_Rela); break;
		case DT_RELACOUNT: t->relative = value; break;
		case DT_JMPREL: plt = value; break;
		case DT_PLTRELSZ: t->plt_count = value / sizeof(Elf64_Rela); break;
		}
	}
	t->symbols = symbols ? place(load, symbols, sizeof(Elf64_Sym)) : NULL;
	t->rela = rela ? place(load, rela, t->rela_count * sizeof(Elf64_Rela)) : NULL;
	t->plt = plt ? place(load, plt, t->plt_count * sizeof(Elf64_Rela)) : NULL;
	/* Strings have no alignment. */
	strings += strings < load->start ? load->base : 0;
	t->strings = is_inside(load, (const void *)(uintptr_t)strings, 1) ? (const char *)(uintptr_t)strings : NULL;
	if (t->gnu_hash && !is_inside(load, t->gnu_hash, 16 + 8ul * t->gnu_hash[2] + 4ul * t->gnu_hash[0]))
		t->gnu_hash = NULL;
	if (t->hash && !is_inside(load, t->hash, 8 + 4ul * t->hash[0] + 4ul * t->hash[1]))
		t->hash = NULL;
	return t->symbols && t->strings;
}

/* Its name when it lies inside. */
static const char *name_of(const struct tables *t, const Elf64_Sym *symbol)
{
	const char *name = t->strings + symbol->st_name;

	return is_inside(t->load, name, 4) ? name : "";
}

/* ---- imports ---- */

/* Most names differ from all of ours in the first few characters. */
static inline int may_concern(const char *name)
{
	if (name[0] == '_')
		return (name[1] == '_' && name[2] == 'x') || (name[1] == 'Z' && name[2] == 'N' && name[3] == '6' && name[4] == '_');
	return name[0] == 'd' && name[1] == 'l' && name[2] == 'c';
}

static void note(struct imports *imports, const struct tables *t, int i, const Elf64_Sym *symbol)
{
	imports->symbol[i] = symbol;
	imports->index[i] = (uint32_t)(symbol - t->symbols);
}

static void consider(struct imports *imports, const struct tables *t, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name)
		return;
	const char *name = name_of(t, symbol);
	if (!may_concern(name))
		return;
	for (int i = 0; i < IMPORTS; i++)
		if (!strcmp(name, names[i]))
			note(imports, t, i, symbol);
}

/* The undefined symbols are among the first so many; 0: not known. */
static uint64_t count(const struct tables *t)
{
	if (t->gnu_hash) {
		uint64_t first = t->gnu_hash[1], filter;
		memcpy(&filter, t->gnu_hash + 4, sizeof(filter));
		/* See imports.h. One word of the filter is 0: nothing is listed. */
		if (first > 1 || t->gnu_hash[2] != 1 || filter)
			return first;
	}
	return t->hash ? t->hash[1] : 0;
}

static void consider_relocations(struct imports *imports, const struct tables *t, const Elf64_Rela *r, uint64_t n)
{
	for (uint64_t i = 0; r && i < n; i++) {
		const Elf64_Sym *symbol = t->symbols + ELF64_R_SYM(r[i].r_info);
		if (is_inside(t->load, symbol, sizeof(*symbol)))
			consider(imports, t, symbol);
	}
}

static const Elf64_Sym *find(const struct tables *t, const char *name);

/* May others be bound to it? */
static int is_definition(const Elf64_Sym *symbol)
{
	return symbol && symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT || ELF64_ST_VISIBILITY(symbol->st_other) == STV_PROTECTED);
}

void imports_look(struct imports *imports, const struct load *load)
{
	struct tables t;

	*imports = (struct imports){ 0 };
	if (!read_tables(&t, load))
		return;
	if (t.rela && t.relative < t.rela_count) {
		imports->relocation[0] = t.rela + t.relative;
		imports->relocations[0] = t.rela_count - t.relative;
	}
	if (t.plt) {
		imports->relocation[1] = t.plt;
		imports->relocations[1] = t.plt_count;
	}
	imports->defines_dlclose = is_definition(find(&t, names[IMPORT_DLCLOSE]));
	uint64_t n = count(&t);
	if (n > (load->end - (uint64_t)(uintptr_t)t.symbols) / sizeof(Elf64_Sym))
		return;
	for (uint64_t i = 1; i < n; i++)
		consider(imports, &t, &t.symbols[i]);
	if (!n) {
		consider_relocations(imports, &t, imports->relocation[0], imports->relocations[0]);
		consider_relocations(imports, &t, imports->relocation[1], imports->relocations[1]);
	}
	/* A program at a fixed address lists functions that it takes the address of, with that of its PLT's entry. */
	for (int i = 0; n && i < IMPORTS && load->object->flags & TRACE_OBJECT_PROGRAM; i++) {
		const Elf64_Sym *symbol = imports->symbol[i] ? NULL : find(&t, names[i]);
		if (symbol && symbol->st_shndx == SHN_UNDEF)
			note(imports, &t, i, symbol);
	}
}

/* ---- definitions ---- */

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0;

	while (*name) {
		h = (h << 4) + (uint8_t)*name++;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

static int is_called(const struct tables *t, const Elf64_Sym *symbol, const char *name)
{
	return is_inside(t->load, symbol, sizeof(*symbol)) && !strcmp(name_of(t, symbol), name);
}

static const Elf64_Sym *find_gnu(const struct tables *t, const char *name)
{
	const uint32_t *table = t->gnu_hash;
	uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3], hash = symbol_hash(name);
	const uint32_t *bucket = table + 4 + 2ul * words, *chain = bucket + buckets;
	uint64_t word;

	if (!buckets || !words)
		return NULL;
	memcpy(&word, table + 4 + 2ul * (hash / 64 % words), sizeof(word));
	if (!(word >> hash % 64 & word >> (hash >> (shift & 31)) % 64 & 1))
		return NULL;
	for (uint32_t i = bucket[hash % buckets]; i && i >= first && is_inside(t->load, chain + (i - first), 4); i++) {
		if ((chain[i - first] | 1) == (hash | 1) && is_called(t, &t->symbols[i], name))
			return &t->symbols[i];
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static const Elf64_Sym *find_sysv(const struct tables *t, const char *name)
{
	uint32_t buckets = t->hash[0], chains = t->hash[1];
	const uint32_t *bucket = t->hash + 2, *chain = bucket + buckets;

	/* At most so many steps: a damaged chain may be a ring. */
	uint32_t i = buckets ? bucket[sysv_hash(name) % buckets] : 0;
	for (uint32_t left = chains; left && i && i < chains; left--, i = chain[i])
		if (is_called(t, &t->symbols[i], name))
			return &t->symbols[i];
	return NULL;
}

/* A symbol of that name which the object lists; NULL: none. */
static const Elf64_Sym *find(const struct tables *t, const char *name)
{
	return t->gnu_hash ? find_gnu(t, name) : t->hash ? find_sysv(t, name) : NULL;
}

unsigned imports_defined(const struct load *load, unsigned mask)
{
	struct tables t;
	unsigned defined = 0;

	if (!read_tables(&t, load))
		return 0;
	for (int i = 0; i < IMPORTS; i++) {
		if (mask & 1u << i && is_definition(find(&t, names[i])))
			defined |= 1u << i;
	}
	return defined;
}
