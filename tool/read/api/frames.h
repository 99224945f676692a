/* SPDX-License-Identifier: MIT */
/*
 * What is behind xaudit-read-frames.h: the backtraces of a trace, each once, and their frames; and what the key of a
 * backtrace stands for in a process, as long as nothing is loaded or unloaded there.
 *
 * Memory: what all distinct backtraces need, up to a limit; further ones are not known. One thread per trace.
 */
#ifndef XAUDIT_TOOL_READ_API_FRAMES_H
#define XAUDIT_TOOL_READ_API_FRAMES_H

#include "tool/read/api/api.h"
#include "tool/read/api/values.h"

/* Of a trace that is closed, and of a process of it, which may be wrapped elsewhere. */
void read_api_free_stacks(struct xaudit_read_trace *trace);
void read_api_free_keys(struct xaudit_read_process *process);

/*
 * The only value of a custom event that has a backtrace: of 8 bytes, its key, which stay the caller's. key NULL: it has
 * none, and the result has no layout.
 */
struct xaudit_read_values read_api_backtrace_of(struct xaudit_read_process *process, const uint8_t *key,
	const struct read_chain *chain, uint64_t ticks);

/* The frame of an instruction of an object, for its symbol alone; NULL: no memory. */
const struct xaudit_read_frame *read_api_frame_at(
	struct xaudit_read_trace *trace, const struct xaudit_read_object *object, uint64_t offset);

#endif
