/* SPDX-License-Identifier: MIT */
/*
 * What the descriptors of traced processes are, for -y: the names that calls of open() and its like were seen to give
 * them, and what the kernel says, which may be of a moment later than the call: a descriptor may have been closed, or
 * be another file's, by then. So the kernel is believed where it says of an opened file the same last component.
 *
 * Kept in read_live_process.user. One thread.
 */
#ifndef XAUDIT_TOOL_TRACE_DESCRIPTORS_H
#define XAUDIT_TOOL_TRACE_DESCRIPTORS_H

#include <stdint.h>

#include "tool/read/live/live.h"

/* A call whose line is made. */
struct descriptors_of {
	struct read_live_process *process;
	const struct xaudit_read_call *call;
};

/* What a descriptor is (user: struct descriptors_of), until the next call; NULL: not known. */
const char *descriptors_name(void *user, int64_t number);

/* A call has ended: before its line is made, and after that. */
void descriptors_opened(struct read_live_process *process, const struct xaudit_read_call *call);
void descriptors_closed(struct read_live_process *process, const struct xaudit_read_call *call);

void descriptors_free(struct read_live_process *process);

#endif
