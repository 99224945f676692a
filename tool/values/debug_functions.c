/* SPDX-License-Identifier: MIT */
#include "tool/values/debug_functions.h"

#include <dwarf.h>
#include <stdlib.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"

#define NESTED 32 /* namespaces, and the like */

static int by_low(const void *a, const void *b)
{
	const struct debug_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void add_ranges(struct debug_functions *of, Dwarf_Die *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	of->unit = memory_grow(of->unit, of->units, sizeof(*of->unit));
	of->unit[of->units] = (struct debug_unit){ .die = dwarf_dieoffset(unit) };
	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		of->range = memory_grow(of->range, of->ranges, sizeof(*of->range));
		of->range[of->ranges++] = (struct debug_range){ low, high, of->units };
	}
	of->units++;
}

/* What assemblers say of functions is where they are: they know of no parameters, and of nothing that comes back. */
static bool is_assembler(Dwarf_Die *unit)
{
	return dwarf_srclang(unit) == DW_LANG_Mips_Assembler;
}

static void read_units(struct debug_functions *of)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	of->are_units_known = true;
	while (!dwarf_get_units(of->dwarf, unit, &unit, NULL, &type, &die, NULL))
		if (type == DW_UT_compile && !is_assembler(&die))
			add_ranges(of, &die);
	if (of->ranges)
		qsort(of->range, of->ranges, sizeof(*of->range), by_low);
}

static void add_function(struct debug_functions *of, Dwarf_Die *die)
{
	Dwarf_Addr address, base, high;

	/* One of several parts, of which some are hardly ever run, begins with the first part. */
	if (dwarf_entrypc(die, &address) && dwarf_ranges(die, 0, &base, &address, &high) <= 0)
		return;
	uint32_t hash = hash_key(address, 0);
	uint32_t row = HASH_FIND(i, &of->by_address, hash, of->function[i].address == address);
	/* Of several at one place the first one counts: they are the same code. */
	if (row != HASH_NONE)
		return;
	of->function = memory_grow(of->function, of->functions, sizeof(*of->function));
	of->function[of->functions] = (struct debug_function){ address, dwarf_dieoffset(die) };
	memory_hash(&of->by_address, hash, (uint32_t)of->functions++);
}

static void read_functions(struct debug_functions *of, Dwarf_Die *parent, int depth)
{
	Dwarf_Die child;

	for (int r = dwarf_child(parent, &child); !r; r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_subprogram)
			add_function(of, &child);
		else if (depth < NESTED && (tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
						   tag == DW_TAG_class_type || tag == DW_TAG_module))
			read_functions(of, &child, depth + 1);
	}
}

bool debug_functions_find(struct debug_functions *of, uint64_t address, Dwarf_Die *function)
{
	if (!of->dwarf)
		return false;
	if (!of->are_units_known)
		read_units(of);
	/* Ranges of units don't overlap, but where one is damaged. */
	size_t i = SEARCH(k, 0, of->ranges, of->range[k].low <= address);
	if (!i || address >= of->range[i - 1].high)
		return false;
	struct debug_unit *unit = &of->unit[of->range[i - 1].unit];
	Dwarf_Die die;
	if (!unit->is_read && dwarf_offdie(of->dwarf, unit->die, &die))
		read_functions(of, &die, 0);
	unit->is_read = true;
	uint32_t row = HASH_FIND(k, &of->by_address, hash_key(address, 0), of->function[k].address == address);
	return row != HASH_NONE && dwarf_offdie(of->dwarf, of->function[row].die, function);
}

void debug_functions_free(struct debug_functions *of)
{
	free(of->unit);
	free(of->range);
	free(of->function);
	hash_free(&of->by_address);
	*of = (struct debug_functions){ 0 };
}
