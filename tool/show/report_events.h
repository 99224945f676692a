/* SPDX-License-Identifier: MIT */
/*
 * Counts custom events for `xaudit report`: a row per name of a type, over all processes, since each process may have
 * another number for a name. Types without a name are told apart by their numbers.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_EVENTS_H
#define XAUDIT_TOOL_SHOW_REPORT_EVENTS_H

#include <stdint.h>

#include "tool/read/folder.h"

struct event_row {
	char *name;	 /* NULL: meta names no such type */
	uint32_t number; /* of the type, if it has no name */
	uint64_t count;
	uint64_t bytes; /* of data */
};

struct event_counter {
	struct event_row *row;
	uint32_t rows;
	uint64_t unfinished; /* events that were begun, but not finished; in no row */

	/* Which row a type has in the process that is being counted. */
	struct read_process *process;
	struct event_slot *slot; /* hash */
	uint32_t slots, used;	 /* slots: a power of two, or 0 */
	uint32_t *by_name;	 /* hash of rows, + 1; as large as `names` says, a power of two, or 0 */
	uint32_t names;
};

/* Counts an event of a process. It is fastest when all events of a process come one after another. */
void event_count(struct event_counter *counter, struct read_process *process, uint32_t type, uint64_t bytes);

/* To be called before a process's names are freed: its numbers of types mean nothing in another process. */
void event_count_process_ends(struct event_counter *counter);

/* Sorts the rows: by count, falling, then by name and number. After this no event may be counted. */
void event_count_sort(struct event_counter *counter);

void event_count_free(struct event_counter *counter);

#endif
