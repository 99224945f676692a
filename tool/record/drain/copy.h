/* SPDX-License-Identifier: MIT */
/*
 * One chunk from meta to its place in t<n>, piece by piece; as dense words (format/dense.h) if these are worth
 * it. The chunk may be filled anew meanwhile: no piece is written that was read after that. As in drain.h, nothing in
 * it is believed, callers are one thread, or hold a lock.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_COPY_H
#define XAUDIT_TOOL_RECORD_DRAIN_COPY_H

#include <stdint.h>

#include "format/trace.h"

#define DRAIN_OVER 1 /* the chunk that was published is not there any more: its thread writes it */

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
