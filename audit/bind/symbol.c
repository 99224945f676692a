/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/bind/symbol.h"

#include <dlfcn.h>  /* Dl_info */
#include <stdbool.h>
#include <string.h> /* strcmp */

#include "audit/live/entry_stub.h"
#include "runtime/process/process.h"

bool symbol_is_inside(const struct load *load, const void *p, uint64_t size)
{
	uint64_t address = (uint64_t)(uintptr_t)p;

	return address >= load->start && address <= load->end && size <= load->end - address;
}

/* ld.so makes these values addresses, except in objects whose dynamic section is read-only. */
static const void *place(const struct load *load, uint64_t value, uint64_t size)
{
	if (value < load->start)
		value += load->base;
	const void *p = (const void *)(uintptr_t)value;
	return value % 4 == 0 && symbol_is_inside(load, p, size) ? p : NULL;
}

int symbol_tables(struct symbol_tables *t, const struct load *load)
{
	uint64_t symbols = 0, strings = 0, rela = 0, plt = 0;

	*t = (struct symbol_tables){ .load = load };
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
	/* Strings need no alignment. */
	strings += strings < load->start ? load->base : 0;
	t->strings =
		symbol_is_inside(load, (const void *)(uintptr_t)strings, 1) ? (const char *)(uintptr_t)strings : NULL;
	if (t->gnu_hash && !symbol_is_inside(load, t->gnu_hash, 16 + 8ul * t->gnu_hash[2] + 4ul * t->gnu_hash[0]))
		t->gnu_hash = NULL;
	if (t->hash && !symbol_is_inside(load, t->hash, 8 + 4ul * t->hash[0] + 4ul * t->hash[1]))
		t->hash = NULL;
	return t->symbols && t->strings;
}

const char *symbol_name(const struct symbol_tables *t, const Elf64_Sym *symbol)
{
	const char *name = t->strings + symbol->st_name;

	return symbol_is_inside(t->load, name, 4) ? name : "";
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	return h;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0;

	while (*name) {
		h = (h << 4) + (uint8_t)*name++;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

static bool is_called(const struct symbol_tables *t, const Elf64_Sym *symbol, const char *name)
{
	return symbol_is_inside(t->load, symbol, sizeof(*symbol)) && !strcmp(symbol_name(t, symbol), name);
}

/* only: NULL, too, if there are several. */
static const Elf64_Sym *find_gnu(const struct symbol_tables *t, const char *name, bool only)
{
	/* Header: number of buckets, first symbol, words of the Bloom filter, its shift; filter; buckets; chains. */
	const uint32_t *table = t->gnu_hash;
	uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3], hash = gnu_hash(name);
	const uint32_t *bucket = table + 4 + 2ul * words, *chain = bucket + buckets;
	const Elf64_Sym *found = NULL;
	uint64_t word;

	if (!buckets || !words)
		return NULL;
	memcpy(&word, table + 4 + 2ul * (hash / 64 % words), sizeof(word));
	if (!(word >> hash % 64 & word >> (hash >> (shift & 31)) % 64 & 1))
		return NULL;
	for (uint32_t i = bucket[hash % buckets]; i && i >= first && symbol_is_inside(t->load, chain + (i - first), 4);
		i++) {
		if ((chain[i - first] | 1) == (hash | 1) && is_called(t, &t->symbols[i], name)) {
			if (found || !only)
				return found ? NULL : &t->symbols[i];
			found = &t->symbols[i];
		}
		if (chain[i - first] & 1)
			break;
	}
	return found;
}

/* As find_gnu(). */
static const Elf64_Sym *find_sysv(const struct symbol_tables *t, const char *name, bool only)
{
	uint32_t buckets = t->hash[0], chains = t->hash[1];
	const uint32_t *bucket = t->hash + 2, *chain = bucket + buckets;
	const Elf64_Sym *found = NULL;

	/* The number of steps is limited: a damaged chain may be a ring. */
	uint32_t i = buckets ? bucket[sysv_hash(name) % buckets] : 0;
	for (uint32_t left = chains; left && i && i < chains; left--, i = chain[i]) {
		if (!is_called(t, &t->symbols[i], name))
			continue;
		if (found || !only)
			return found ? NULL : &t->symbols[i];
		found = &t->symbols[i];
	}
	return found;
}

const Elf64_Sym *symbol_look(const struct symbol_tables *t, const char *name)
{
	return t->gnu_hash ? find_gnu(t, name, false) : t->hash ? find_sysv(t, name, false) : NULL;
}

const Elf64_Sym *symbol_look_only(const struct symbol_tables *t, const char *name)
{
	return t->gnu_hash ? find_gnu(t, name, true) : t->hash ? find_sysv(t, name, true) : NULL;
}

uintptr_t symbol_find(const struct load *load, const char *name)
{
	struct symbol_tables t;
	const Elf64_Sym *symbol = symbol_tables(&t, load) ? symbol_look(&t, name) : NULL;

	return symbol && symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
		       ? load->base + symbol->st_value
		       : 0;
}

bool symbol_is_libc(const struct load *load)
{
	const char *soname = load->object->soname;

	return soname && (!strcmp(soname, "libc.so.6") || !strcmp(soname, "libdl.so.2"));
}

/* As it is called without an event. */
static uintptr_t untraced(const struct load *load, uintptr_t function)
{
	struct process_held held;

	/* Nearly always; and threads that begin while we look for pthread_setspecific can't be watched. */
	if (!load->entries)
		return function;
	process_lock(&held);
	function = entry_past(function);
	process_unlock(&held);
	return function;
}

uintptr_t symbol_of_libc(const char *name)
{
	uintptr_t found = 0;

	for (const struct load *load = loads; load && !found; load = load->next)
		if (load->state == LOAD_OPEN && load->namespace == LM_ID_BASE && symbol_is_libc(load))
			found = untraced(load, symbol_find(load, name));
	return found;
}

int symbol_owner(const void *address, const struct link_map **map)
{
	Dl_info info;

	*map = NULL;
	for (const struct load *load = loads; load; load = load->next) {
		uintptr_t find = load->object->flags & TRACE_OBJECT_LOADER
					 ? symbol_find(load, "_dl_find_dso_for_object")
					 : 0;
		if (!find)
			continue;
		*map = ((const struct link_map *(*)(const void *))find)(address);
		return 1;
	}
	int (*ask)(const void *, Dl_info *, void **, int) =
		(int (*)(const void *, Dl_info *, void **, int))symbol_of_libc("dladdr1");
	return ask && (ask(address, &info, (void **)map, RTLD_DL_LINKMAP) || !*map);
}
