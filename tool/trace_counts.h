/* SPDX-License-Identifier: MIT */
/*
 * The counters of one thread record, c<n>: calls that were counted without time.
 *
 *	if (counts_open(&c, process, number)) {
 *		while (counts_next(&c))
 *			c.id was called c.calls times
 *		counts_close(&c);
 *	}
 *
 * Counters of 0 are passed over. The file is read in blocks, with what it holds at that moment.
 */
#ifndef XAUDIT_TRACE_COUNTS_H
#define XAUDIT_TRACE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/trace.h"
#include "tool/trace_folder.h"

struct counts {
	struct process *process;
	unsigned number; /* of the thread record */
	struct trace_file *file;
	uint64_t disk;	 /* bytes that the file takes */
	uint64_t end;	 /* of the counters */
	uint64_t pos;	 /* where those behind the block begin */
	uint64_t block[2048];
	unsigned at, have;
	struct trace_counts head;
	uint32_t id;
	uint64_t calls;
};

/* Returns false, after noting damage where it is some, if there is no such file or it can't be read. */
bool counts_open(struct counts *counts, struct process *process, unsigned number);
bool counts_next(struct counts *counts);
void counts_close(struct counts *counts);

/* Notes damage at the counter of counts->id. */
void counts_damage(const struct counts *counts, const char *what);

#endif
