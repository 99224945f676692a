/* SPDX-License-Identifier: MIT */
/*
 * Ways to functions that lock, as people are told them: places whose callers are the same functions are one, though
 * they are called from other lines there. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_WAYS_H
#define XAUDIT_TOOL_LOCKS_WAYS_H

#include <stdint.h>

#include "tool/locks/read.h"

struct locks_way {
	uint32_t place; /* the first of them */
	struct locks_place sum;
};

/* Of these places, the costliest first; the caller frees what is returned. *ways becomes their number. */
struct locks_way *locks_ways(const struct locks_reading *reading, const uint32_t *place, uint32_t places,
	uint32_t *ways);

/* What has cost more: <0 the first one, >0 the other, 0 as much. */
int locks_compare_places(const struct locks_place *one, const struct locks_place *other);

#endif
