/* SPDX-License-Identifier: MIT */
/*
 * A cursor's (cursor.h) way to c->from: calls that began before are not told, but they are around others. So all that
 * comes before is followed by tool/read/events/ahead.h, and calls are made of those that are open when the moment has
 * come, or where something before it needs them: values that are asked for, requests, custom events. Until then `user`
 * of a call's frame is NULL: it was passed over.
 */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_AHEAD_H
#define XAUDIT_TOOL_READ_API_CURSOR_AHEAD_H

#include "tool/read/api/cursor.h"

/* Is c->record before c->from? */
static inline bool read_api_is_ahead(const struct xaudit_read_calls *c)
{
	return c->from_ticks && c->record->source.decoder.now < c->from_ticks;
}

/*
 * Reads on in c->record up to there, or as read_api_read_on(). Returns false if it is there, and more is to be read
 * now.
 */
bool read_api_ahead(struct xaudit_read_calls *c);

#endif
