/* SPDX-License-Identifier: MIT */
/*
 * The records of a process, one after another; or those that it has from who forked it, and from who forked that, as
 * far as they were there then, without their notes and changes. Positions count in a process's own records; where they
 * are in the file, its head tells.
 */
#ifndef XAUDIT_TOOL_READ_META_H
#define XAUDIT_TOOL_READ_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/read/process.h"

/* Records of one process, up to there. */
struct read_meta_part {
	struct read_process *process;
	uint64_t end;
};

struct read_meta {
	struct read_process *process;
	struct read_meta_part *part; /* whose records there are, the last one's first */
	unsigned parts;
	bool inherited; /* all of it goes to somebody else */
	uint64_t at;  /* of the record that was returned last */
	uint64_t pos; /* of the next one */
	uint64_t end; /* of the whole records of part[parts - 1] */
	uint8_t *buf;
	size_t room, have;
	uint64_t buf_pos; /* where buf lies in them */
};

/* Begins at `pos` of the process's own records, 0: the first, and ends where whole records end now. */
void read_meta_begin(struct read_meta *meta, struct read_process *process, uint64_t pos);

/* What a process that was forked when its records ended at `used` has from it. */
void read_meta_begin_inherited(struct read_meta *meta, struct read_process *process, uint64_t used);

/* The process's own records from `pos` to `used`, all of them. */
void read_meta_begin_own(struct read_meta *meta, struct read_process *process, uint64_t pos, uint64_t used);

/* Whether a record is nobody's but the process's that wrote it. */
bool read_meta_is_own(const struct trace_record *record);

/*
 * The next record, whole, 8-byte aligned; valid until the next call. NULL: no more, or what follows is damaged, which
 * is remembered in the folder's damage if `complain`.
 */
const struct trace_record *read_meta_next(struct read_meta *meta, bool complain);

/* Where in the file the record is that was returned last. */
uint64_t read_meta_offset(const struct read_meta *meta);

void read_meta_end(struct read_meta *meta);

#endif
