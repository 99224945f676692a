/* SPDX-License-Identifier: MIT */
/*
 * How to go up from an address to its caller, by an index (format/frames.h).
 *
 *	struct index_frames frames;
 *	if (!index_frames_check(&index, &frames))		once, where time does not matter
 *		rule = index_frames_rule(&frames, address);	then, on any thread
 *
 * The check sums all blocks in which the part lies, since a search looks at any of them: 1 ms for 10 MB that are in
 * memory. What it gives is three words that never change, and nothing else of the index is looked at later: so it may
 * be copied and published as any words are, and serves as long as the index, or a copy of the entries, is there. A
 * search stays within the part whatever its bytes say. All of it is async-signal-safe, without libc.
 */
#ifndef XAUDIT_AUDIT_INDEX_FRAMES_H
#define XAUDIT_AUDIT_INDEX_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "format/frames.h"

struct index;

struct index_frames {
	const struct index_frame *frame; /* by `from` */
	size_t count;
	uint64_t low; /* the address from which `from` is counted, at link time */
};

/* Returns 0; -ENOENT: the index has none; -EBADMSG: damaged. *frames has no entries then. */
int index_frames_check(const struct index *index, struct index_frames *frames);

/* The rule of a link-time address; of one that no entry is for, FRAME_NONE with FRAME_GAP. */
uint32_t index_frames_rule(const struct index_frames *frames, uint64_t address);

#endif
