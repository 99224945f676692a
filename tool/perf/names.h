/* SPDX-License-Identifier: MIT */
/* Which function an address of a module lies in: its symbols, read and sorted once, however many addresses follow. */
#ifndef XAUDIT_TOOL_PERF_NAMES_H
#define XAUDIT_TOOL_PERF_NAMES_H

#include <stdint.h>

#include "elfutils/libdwfl.h"

struct perf_names;

/* The names are the module's: they are there as long as that is. */
struct perf_names *perf_names_read(Dwfl_Module *module);
void perf_names_free(struct perf_names *names);

/*
 * The name of the innermost symbol that has the address; else of the last one without a size before it, if that lies in
 * the same section and no other one ends in between. Of several at one place a global one comes before a weak one, and
 * that before a local one. NULL: there is none.
 */
const char *perf_names_find(const struct perf_names *names, uint64_t address);

#endif
