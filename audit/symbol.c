/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "audit/symbol.h"

#include <string.h> /* strcmp */

uint32_t symbol_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	return h;
}

uintptr_t symbol_find(const struct link_map *map, const char *name)
{
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	const uint32_t *table = NULL;

	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			table = (const uint32_t *)d->d_un.d_ptr;
	}
	if (!symbols || !strings || !table)
		return 0;
	/* Header: number of buckets, first symbol, words of the Bloom filter, its shift; filter; buckets; chains. */
	uint32_t buckets = table[0], first = table[1], hash = symbol_hash(name);
	const uint32_t *bucket = table + 4 + 2 * table[2], *chain = bucket + buckets;
	for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i >= first && i; i++) {
		const Elf64_Sym *s = &symbols[i];
		if ((chain[i - first] | 1) == (hash | 1) && !strcmp(strings + s->st_name, name) && s->st_shndx != SHN_UNDEF &&
			ELF64_ST_TYPE(s->st_info) == STT_FUNC)
			return map->l_addr + s->st_value;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}
