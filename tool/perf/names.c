/* SPDX-License-Identifier: MIT */
#include "tool/perf/names.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"

#define NONE SIZE_MAX

struct symbol {
	uint64_t start, end; /* the same: it has no size */
	const char *name;
	int rank; /* of those at one place: the highest is taken */
	int number;
	size_t outer;	  /* the last one before it that ends behind its end, or NONE */
	size_t sizeless;  /* the last one up to it that has no size, or NONE */
	uint64_t reached; /* where the last of those up to it ends */
};

struct perf_names {
	Dwfl_Module *module;
	struct symbol *symbol; /* by start; of one start, what is to be found first is the last */
	size_t count;
};

static int rank_of(const GElf_Sym *symbol)
{
	unsigned bind = GELF_ST_BIND(symbol->st_info);

	return bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 2 : bind == STB_WEAK;
}

static bool tells_of_code(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return name && *name && symbol->st_shndx != SHN_UNDEF && type != STT_SECTION && type != STT_FILE &&
	       type != STT_TLS;
}

static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Without a size: before those that have one. */
	if ((a->end == a->start) != (b->end == b->start))
		return a->end == a->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->number > b->number ? -1 : a->number < b->number;
}

/* What a look-up follows, so that it need not go through all that begin before its address. */
static void link_them(struct perf_names *names)
{
	size_t sizeless = NONE;
	uint64_t reached = 0;

	for (size_t i = 0; i < names->count; i++) {
		struct symbol *s = names->symbol + i;
		size_t outer = i ? i - 1 : NONE;

		while (outer != NONE && names->symbol[outer].end <= s->end)
			outer = names->symbol[outer].outer;
		if (s->end == s->start)
			sizeless = i;
		if (s->end > reached)
			reached = s->end;
		s->outer = outer;
		s->sizeless = sizeless;
		s->reached = reached;
	}
}

struct perf_names *perf_names_read(Dwfl_Module *module)
{
	struct perf_names *names = memory_zeroed(1, sizeof(*names));
	int count = dwfl_module_getsymtab(module);

	names->module = module;
	names->symbol = memory_zeroed(count > 0 ? (size_t)count : 1, sizeof(*names->symbol));
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
		if (!tells_of_code(&symbol, name))
			continue;
		uint64_t size = symbol.st_size < UINT64_MAX - address ? symbol.st_size : UINT64_MAX - address;
		names->symbol[names->count++] = (struct symbol){
			.start = address, .end = address + size, .name = name, .rank = rank_of(&symbol), .number = i };
	}
	qsort(names->symbol, names->count, sizeof(*names->symbol), compare);
	link_them(names);
	return names;
}

void perf_names_free(struct perf_names *names)
{
	if (names)
		free(names->symbol);
	free(names);
}

static const void *section_of(Dwfl_Module *module, uint64_t address)
{
	GElf_Addr bias;

	return dwfl_module_address_section(module, &(Dwarf_Addr){ address }, &bias);
}

const char *perf_names_find(const struct perf_names *names, uint64_t address)
{
	size_t from = SEARCH(i, 0, names->count, names->symbol[i].start <= address);

	if (!from)
		return NULL;
	const struct symbol *last = names->symbol + from - 1;
	for (size_t i = from - 1; i != NONE; i = names->symbol[i].outer)
		if (names->symbol[i].end > address)
			return names->symbol[i].name;
	if (last->sizeless == NONE || names->symbol[last->sizeless].start < last->reached)
		return NULL;
	const struct symbol *s = names->symbol + last->sizeless;
	const void *section = section_of(names->module, address);
	return section && section == section_of(names->module, s->start) ? s->name : NULL;
}
