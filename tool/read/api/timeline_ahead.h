/* SPDX-License-Identifier: MIT */
/*
 * A timeline's (timeline.h) way to e->from, before its first event: each thread record is followed up to there by
 * itself (tool/read/events/ahead.h), or by turns where threads went on with each other's calls, and calls are made of
 * those that are open then. The merge begins with what comes next in each record.
 */
#ifndef XAUDIT_TOOL_READ_API_TIMELINE_AHEAD_H
#define XAUDIT_TOOL_READ_API_TIMELINE_AHEAD_H

#include "tool/read/api/timeline.h"

/* No memory: that is noted. */
void read_api_events_ahead(struct xaudit_read_events *e);

#endif
