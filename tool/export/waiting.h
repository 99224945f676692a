/* SPDX-License-Identifier: MIT */
/*
 * What waits on a track until it is known whether the calls there are long enough (tool/export/pass.h): a list in the
 * order of time, whose first entry is an open call. One thread; the track's pass has it.
 */
#ifndef XAUDIT_TOOL_EXPORT_WAITING_H
#define XAUDIT_TOOL_EXPORT_WAITING_H

#include "tool/export/format.h"

struct waiting_entry;

/* Zeroed memory is an empty one. */
struct waiting {
	struct waiting_entry *entry;
	uint32_t first, entries, room;
};

static inline bool waiting_some(const struct waiting *waiting)
{
	return waiting->first < waiting->entries;
}

void waiting_free(struct waiting *waiting);

/* A call has begun: it waits. */
void waiting_enter(struct waiting *waiting, const struct export_call *call);

/* An event that is no call is told behind what waits, or at once where nothing does. */
void waiting_custom(struct export *export, struct waiting *waiting, struct export_track *track,
	const struct xaudit_read_item *item);

/* Tells of all calls that have been open for `min` by now, and of what came between them. */
void waiting_look(
	struct export *export, struct waiting *waiting, struct export_track *track, uint64_t now, uint64_t min);

/* The innermost open call has ended. Returns whether it counts: then enter() was told, and leave() has to be. */
bool waiting_leave(
	struct export *export, struct waiting *waiting, const struct export_call *call, uint64_t min);

#endif
