/* SPDX-License-Identifier: MIT */
/*
 * Probes in a tree of calls (cct.h): a node of one has a number from PROBE_ROWS_FIRST on instead of that of a function.
 * Those of one name, in a library of one path, are one, whatever their addresses and traces are: as a profile has them.
 * One thread. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_PROBE_ROWS_H
#define XAUDIT_TOOL_SHOW_CALLS_PROBE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/calls/backtraces.h"

#define PROBE_ROWS_FIRST (1u << 30) /* there are fewer functions: TRACE_ID_BITS for each process */

struct probe_rows {
	const struct xaudit_read_probe **row; /* the first one of it that was met */
	uint32_t rows;
	struct hash by_name; /* and library */
	/* Of the trace at hand: rows by number of the probe, plus 1; 0: not known yet. */
	uint32_t *of_probe;
	uint32_t probes;
};

static inline bool probe_rows_has(uint32_t number)
{
	return number >= PROBE_ROWS_FIRST && number < BACKTRACES_FIRST;
}

/* The number of a probe, made if there is none. */
uint32_t probe_rows_number(struct probe_rows *rows, const struct xaudit_read_probe *probe);

/* Probes of another trace follow; all traces stay open. */
void probe_rows_next(struct probe_rows *rows);

static inline const struct xaudit_read_probe *probe_rows_probe(const struct probe_rows *rows, uint32_t number)
{
	return rows->row[number - PROBE_ROWS_FIRST];
}

void probe_rows_free(struct probe_rows *rows);

#endif
