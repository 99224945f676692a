/* SPDX-License-Identifier: MIT */
/*
 * One chunk from meta to its place in t<n>, piece by piece; as dense words (format/dense.h) if these are worth
 * it. The chunk may be filled anew meanwhile: no piece is written that was read after that. As in drain.h, nothing in
 * it is believed, callers are one thread, or hold a lock.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_COPY_H
#define XAUDIT_TOOL_RECORD_DRAIN_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"

#define DRAIN_OVER 1 /* the chunk that was published is not there any more: its thread writes it */

#define DRAIN_THREADS (1u << 24)

/* Is it a chunk that can be written, with possible numbers of thread and process? */
bool drain_is_sane(const struct trace_chunk *head, uint64_t size);

/*
 * Is there a hole of the file? Not in a chunk that a thread has filled. So what is written for a family is no more than
 * its processes have stored, whatever their limits are and ours are not.
 */
bool drain_has_hole(int meta, uint64_t from, uint64_t to);

struct drain_way {
	int meta, to;	 /* descriptors; of t<n> */
	uint64_t at;	 /* of the chunk in meta */
	uint64_t behind; /* its place in t<n> */
	struct trace_chunk head; /* in meta; its sizes are possible ones */
};

/*
 * Returns 0: t<n> has the chunk, and meta tells what it takes there; DRAIN_OVER; -EINVAL: meta can't be read; or -errno
 * of a write. The head comes last: a reader meanwhile sees a whole chunk or none. Changes way->head.
 */
long drain_write(struct drain_way *way);

#endif
