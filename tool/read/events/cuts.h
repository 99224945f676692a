/* SPDX-License-Identifier: MIT */
/*
 * When recording of functions ended in a process: all of it, or that of some. A call that has no end of its own has no
 * time if this happened while it was open, as it may have ended at any moment since.
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_CUTS_H
#define XAUDIT_TOOL_READ_CUTS_H

#include "tool/read/process.h"

struct read_cuts {
	uint64_t *at; /* ticks, rising */
	uint32_t count;
};

/* Does such a change end recording of functions? */
bool read_cuts_by(const struct read_change *change);

/* Returns false if there is no memory, which is noted; then there are none. */
bool read_cuts_find(struct read_cuts *cuts, const struct read_process *process);
void read_cuts_free(struct read_cuts *cuts);

/* Was there one after `start`, and not after `end`? */
bool read_cuts_between(const struct read_cuts *cuts, uint64_t start, uint64_t end);

#endif
