/* SPDX-License-Identifier: MIT */
/*
 * Counts probes for a profile: a row per name and library, over all processes and addresses.
 *
 * Without memory an event is not counted, and the damage of its process's folder says so. One thread.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_PROBES_H
#define XAUDIT_TOOL_READ_PROFILE_PROBES_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/damage/error.h"
#include "tool/read/process.h"

struct read_probe_row {
	char *name, *library;
	uint64_t count, counted, valued;
	uint64_t first, last; /* ns after the start of the trace; first UINT64_MAX: all were only counted */
};

struct read_probes {
	struct read_probe_row *row;
	uint32_t rows;
	struct hash by_name; /* and library */

	/* The process that is being counted, and rows of its probes, by id. */
	struct read_process *process;
	uint64_t start; /* of its trace, ns */
	struct hash by_id;
	struct read_probe_id {
		uint32_t id, row;
	} *id;
	uint32_t ids;
};

/* From here on events are of this process, which is loaded, of a trace that began then. */
void read_probes_begin(struct read_probes *probes, struct read_process *process, uint64_t start);

/*
 * The thread came to a probe, at a moment in ticks. Returns false where meta does not name it: it is counted as
 * "[unknown]".
 */
bool read_probes_count(struct read_probes *probes, uint32_t id, uint64_t ticks, bool valued);

/* It was only counted, so often. */
void read_probes_add(struct read_probes *probes, uint32_t id, uint64_t count);

/* Adds what another one has counted. */
void read_probes_merge(struct read_probes *to, const struct read_probes *from, struct read_damage *damage);

/* Sorts the rows: by count, falling, then by name and library. After this no event may be counted. */
void read_probes_sort(struct read_probes *probes);

void read_probes_free(struct read_probes *probes);

#endif
