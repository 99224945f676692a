/* SPDX-License-Identifier: MIT */
/*
 * Values of a cursor's calls (cursor.h): copies, which belong to the calls, so that their memory is used again. Only
 * where the caller has asked for them.
 */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_VALUES_H
#define XAUDIT_TOOL_READ_API_CURSOR_VALUES_H

#include "tool/read/api/cursor.h"

/* Keeps the values of the event at hand, c->has, in a call's `entered` or `ended`. NULL: no memory. */
const struct xaudit_read_values *read_api_keep_event_values(
	struct xaudit_read_calls *c, struct read_api_values **kept);

/* Frees what `count` calls have kept. */
void read_api_free_values(struct xaudit_read_calls *c, struct api_call *calls, size_t count);

#endif
