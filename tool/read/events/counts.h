/* SPDX-License-Identifier: MIT */
/*
 * The counters of one thread record: calls that were counted without time. They are in meta, perhaps in several runs,
 * of which one may lie beside the head: then an id may come several times, and the caller adds its calls up.
 *
 *	if (read_counts_open(&c, process, number)) {
 *		while (read_counts_next(&c))
 *			c.id was called c.calls times
 *		read_counts_close(&c);
 *	}
 *
 * Counters of 0 are passed over. They are read in blocks, with what the file holds at that moment.
 */
#ifndef XAUDIT_TOOL_READ_COUNTS_H
#define XAUDIT_TOOL_READ_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/process.h"

struct read_counts {
	struct read_process *process;
	unsigned number; /* of the thread record */
	struct read_file *file; /* meta */
	uint32_t place;	 /* index of the present run among the record's places */
	uint32_t places; /* that the run takes */
	uint64_t disk;	 /* bytes that all of the record takes */
	uint64_t begin;	 /* of the run, in the file */
	uint64_t end;	 /* of its counters */
	uint64_t pos;	 /* where the counters after the block begin */
	uint64_t block[2048];
	unsigned at, have;
	struct trace_counts head; /* of the run */
	uint32_t id;
	uint64_t calls;
};

/* Returns false if there are no counters, or they can't be read, which is noted as damage. */
bool read_counts_open(struct read_counts *counts, struct read_process *process, unsigned number);
bool read_counts_next(struct read_counts *counts);
void read_counts_close(struct read_counts *counts);

/* Notes damage at the counter of counts->id. */
void read_counts_damage(const struct read_counts *counts, const char *what);

#endif
