/* SPDX-License-Identifier: MIT */
/* The events of a thread record that grows. */
#ifndef XAUDIT_TOOL_READ_API_FOLLOW_RECORD_H
#define XAUDIT_TOOL_READ_API_FOLLOW_RECORD_H

#include "tool/read/api/follow.h"

/* The row of a function. NULL: it has no name, or there is no memory. */
struct read_follow_row *read_follow_row(struct xaudit_read_follow *f, uint32_t id);

/* The same of a probe. */
struct read_follow_row *read_follow_probe(struct xaudit_read_follow *f, uint32_t id);

/* Goes to the newest chunk, to be read from its beginning. Returns false if there is none. */
bool read_follow_newest(struct xaudit_read_follow *f, struct read_follow_thread *t);

/* Reads on up to the end, or until then (CLOCK_MONOTONIC, ns). */
void read_follow_thread(struct xaudit_read_follow *f, struct read_follow_thread *t, uint64_t until);

/* Calls that are open have no end: those of all threads. */
void read_follow_forget(struct xaudit_read_follow *f);

#endif
