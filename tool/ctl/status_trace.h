/* SPDX-License-Identifier: MIT */
/* The status that a trace tells, of processes that live or are gone; and the events of a living one. */
#ifndef XAUDIT_TOOL_CTL_STATUS_TRACE_H
#define XAUDIT_TOOL_CTL_STATUS_TRACE_H

#include <stddef.h>

struct status;

/* Reads the events from the trace of a process; silent. */
void status_events(struct status *status);

/*
 * Reads a trace folder, or the folder of one of its processes. Returns an array of *count. NULL after saying why not.
 */
struct status *status_trace(const char *path, size_t *count, int *damage);

#endif
