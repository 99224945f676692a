/* SPDX-License-Identifier: MIT */
/*
 * Counts custom events for a profile: a row per name of a type, over all processes, since each process may have another
 * number for a name. Types without a name are told apart by their numbers.
 *
 * Without memory an event is not counted, and the damage of its process's folder says so. One thread.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_CUSTOMS_H
#define XAUDIT_TOOL_READ_PROFILE_CUSTOMS_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/damage/error.h"
#include "tool/read/process.h"

struct read_custom {
	char *name;	 /* NULL: meta names no such type */
	uint32_t number; /* of the type, if it has no name */
	uint64_t count;
	uint64_t bytes; /* of data */
};

struct read_customs {
	struct read_custom *row;
	uint32_t rows;
	uint64_t unfinished; /* events that were begun, but not finished; in no row */

	struct hash by_name;	      /* of a row's name, or its number */
	struct read_process *process; /* the one that is being counted ... */
	struct hash by_type;	      /* ... and rows of its types: the hash is the type; several may have one row */
};

/* Counts an event of a process. It is fastest when all events of a process come one after another. */
void read_customs_count(struct read_customs *customs, struct read_process *process, uint32_t type, uint64_t bytes);

/* To be called before a process's names are freed: its numbers of types mean nothing in another process. */
void read_customs_process_ends(struct read_customs *customs);

/* Adds what another one has counted. */
void read_customs_merge(struct read_customs *to, const struct read_customs *from, struct read_damage *damage);

/* Sorts the rows: by count, falling, then by name and number. After this no event may be counted. */
void read_customs_sort(struct read_customs *customs);

void read_customs_free(struct read_customs *customs);

#endif
