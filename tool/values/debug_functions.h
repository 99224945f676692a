/* SPDX-License-Identifier: MIT */
/*
 * Functions of debug information by address. A unit is looked through when the first of its functions is asked for.
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_DEBUG_FUNCTIONS_H
#define XAUDIT_TOOL_VALUES_DEBUG_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"

struct debug_functions {
	Dwarf *dwarf; /* NULL: there are none */
	struct debug_unit {
		Dwarf_Off die;
		bool is_read;
	} *unit;
	size_t units;
	struct debug_range {
		uint64_t low, high;
		size_t unit;
	} *range; /* by `low`, once all units are known */
	size_t ranges;
	bool are_units_known;
	struct debug_function {
		uint64_t address;
		Dwarf_Off die;
	} *function;
	size_t functions;
	struct hash by_address;
};

/* The entry of the function that begins at the address, as DWARF has it. Returns false: there is none. */
bool debug_functions_find(struct debug_functions *of, uint64_t address, Dwarf_Die *function);
void debug_functions_free(struct debug_functions *of);

#endif
