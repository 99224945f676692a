/* SPDX-License-Identifier: MIT */
/*
 * When recording of functions ended in a process: all of it, or that of some. A call that has no end of its own has no
 * time if this happened while it was open, as it may have ended at any moment since.
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_EVENTS_STOPS_H
#define XAUDIT_TOOL_READ_EVENTS_STOPS_H

#include "tool/read/process.h"

struct read_stops {
	uint64_t *at; /* ticks, rising */
	uint32_t count;
};

/* Does such a change end recording of functions? */
bool read_stops_by(const struct read_change *change);

/* Returns false if there is no memory, which is noted; then there are none. */
bool read_stops_find(struct read_stops *stops, const struct read_process *process);
void read_stops_free(struct read_stops *stops);

/* Was there one after `start`, and not after `end`? */
bool read_stops_between(const struct read_stops *stops, uint64_t start, uint64_t end);

#endif
