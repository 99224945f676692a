/* SPDX-License-Identifier: MIT */
/*
 * The records of a process, one after another; or those that it has from its parent, the parent's parent and so on:
 * records that were there when it was forked, without notes and changes. Positions count in a process's own records;
 * its head tells where they are in the file.
 *
 * A struct read_meta is its caller's, from a begin to read_meta_end(). One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_META_H
#define XAUDIT_TOOL_READ_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/read/process.h"

/* Records of one process, up to `end`. */
struct read_meta_part {
	struct read_process *process;
	uint64_t end;
};

struct read_meta {
	struct read_process *process;
	struct read_meta_part *part; /* the processes with the records, the last one first */
	unsigned parts;
	bool inherited; /* these records are read for another process */
	uint64_t at;  /* of the record that was returned last */
	uint64_t pos; /* of the next one */
	uint64_t end; /* of the whole records of part[parts - 1] */
	uint8_t *buf;
	size_t room, have;
	uint64_t buf_pos; /* position of buf's first byte */
};

/* Begins at `pos` of the process's own records, 0: the first, and ends where whole records end now. */
void read_meta_begin(struct read_meta *meta, struct read_process *process, uint64_t pos);

/* Begins the records that a process has from this one, which forked it when its own records ended at `used`. */
void read_meta_begin_inherited(struct read_meta *meta, struct read_process *process, uint64_t used);

/* Begins all of the process's own records from `pos` to `used`. */
void read_meta_begin_own(struct read_meta *meta, struct read_process *process, uint64_t pos, uint64_t used);

/* Does a record hold for the process alone that wrote it, and not for its children? */
bool read_meta_is_own(const struct trace_record *record);

/*
 * The next record, whole, 8-byte aligned; valid until the next call. NULL: no more, or the next one is damaged, which
 * is noted as damage if `complain`.
 */
const struct trace_record *read_meta_next(struct read_meta *meta, bool complain);

/* The place in the file of the record that was returned last. */
uint64_t read_meta_offset(const struct read_meta *meta);

void read_meta_end(struct read_meta *meta);

#endif
