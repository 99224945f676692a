/* SPDX-License-Identifier: MIT */
/* Which file was mapped where, as the trace says, and that file if it is still the same. */
#ifndef XAUDIT_TOOL_PERF_LOADS_H
#define XAUDIT_TOOL_PERF_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elfutils/libdwfl.h"

struct perf_names;

struct perf_load {
	uint64_t start, end, base;
	char *path, *build_id; /* in hex; "": not known */
	bool tried;
	Dwfl *dwfl; /* NULL: the file is not to be had, or is another one by now */
	Dwfl_Module *module;
	struct perf_names *names; /* NULL: not read yet */
};

struct perf_loads {
	struct perf_load *load; /* in the order of the records; later ones may lie where earlier ones did */
	size_t count;
};

/* Reads the loads of all processes of the family. False: there is nothing to read. */
bool perf_loads_read(struct perf_loads *loads, int trace, int family, const char *path);
void perf_loads_free(struct perf_loads *loads);

/* The module of what was mapped at the address last, and where; NULL: not known. */
Dwfl_Module *perf_loads_find(struct perf_loads *loads, uint64_t address, struct perf_load **load);

/* The name of the function at an address of the load's module, as perf_names_find(). */
const char *perf_loads_name(struct perf_load *load, uint64_t address);

#endif
