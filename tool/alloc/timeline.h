/* SPDX-License-Identifier: MIT */
/*
 * Live memory over time, in steps of equal length: at most ALLOC_STEPS of them; if there is more time than these have,
 * two of them become one, and so on. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_TIMELINE_H
#define XAUDIT_TOOL_ALLOC_TIMELINE_H

#include <stdint.h>

#define ALLOC_STEPS	 256
#define ALLOC_STEP_FIRST 65536 /* ns */

struct alloc_step {
	uint64_t peak;	     /* the most that was live in it, bytes */
	uint64_t calls, bytes; /* allocations */
};

/* Zeroed memory is an empty one. */
struct alloc_timeline {
	uint64_t begin, length; /* of the first step; of each, ns. 0: there is none yet */
	uint32_t steps;
	uint64_t next; /* when the last step ends */
	uint64_t live; /* bytes, now */
	struct alloc_step step[ALLOC_STEPS];
};

/* From now on so much is live. calls, bytes: what was allocated at that moment. */
void alloc_timeline_set(
	struct alloc_timeline *timeline, uint64_t time, uint64_t live, uint64_t calls, uint64_t bytes);

#endif
