/* SPDX-License-Identifier: MIT */
/* The records of a meta file, one after another. */
#ifndef XAUDIT_TRACE_META_H
#define XAUDIT_TRACE_META_H

#include <stddef.h>
#include <stdint.h>

#include "tool/trace_folder.h"

struct meta {
	struct process *process;
	uint64_t pos; /* of the next record in the file */
	uint64_t end; /* of the whole records */
	uint8_t *buf;
	size_t room, have;
	uint64_t buf_pos; /* where buf lies in the file */
};

/* Begins at `pos` (0: the first record), and ends where the file's whole records end now. */
void meta_begin(struct meta *meta, struct process *process, uint64_t pos);

/*
 * The next record, whole, 8-byte aligned; valid until the next call. NULL: no more, or what follows is damaged, which is
 * remembered in the folder's damage if `complain`.
 */
const struct trace_record *meta_next(struct meta *meta, bool complain);

void meta_end(struct meta *meta);

#endif
