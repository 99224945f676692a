/* SPDX-License-Identifier: MIT */
/*
 * Numbers for functions, libraries and other names over several traces: 1, 2, ... in the order in which they were met.
 * Functions of two traces that have the same name, in a library of the same path, have the same number.
 *
 * One thread each. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_CATALOG_H
#define XAUDIT_TOOL_SHOW_REPORT_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"

struct catalog {
	struct catalog_name {
		char *name;    /* or NULL */
		char *library; /* path, or NULL */
		char *aliases; /* xaudit_read_function.aliases of a function; NULL: none */
		bool probe;    /* the name is "probe NAME" */
	} *name; /* [0] is none */
	uint32_t used; /* with [0] */
	struct hash by_name; /* and by library */

	/* Numbers of functions of the trace at hand, by xaudit_read_function.number; 0: not asked for yet. */
	uint32_t *of_trace;
	uint32_t of_trace_room;
};

/* The number of a name, and of a library; either may be NULL. */
uint32_t catalog_number(struct catalog *catalog, const char *name, const char *library);

/* The same; 0 if it has none yet. */
uint32_t catalog_find(const struct catalog *catalog, const char *name, const char *library);

/* The number of a function of the trace at hand, found without a hash when it was asked for before. */
uint32_t catalog_function(struct catalog *catalog, const struct xaudit_read_function *function);

/* The number of a probe, beside those of functions. */
uint32_t catalog_probe(struct catalog *catalog, const struct xaudit_read_probe *probe);

/* Gives the name aliases, if it has none. */
void catalog_alias(struct catalog *catalog, uint32_t number, const char *aliases);

/* Another trace is at hand. */
void catalog_next_trace(struct catalog *catalog);

/* Which of two names comes first: by name, then by library. */
int catalog_compare(const struct catalog *catalog, uint32_t a, uint32_t b);

void catalog_free(struct catalog *catalog);

#endif
