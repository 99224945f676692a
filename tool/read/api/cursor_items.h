/* SPDX-License-Identifier: MIT */
/* Items of a cursor (cursor.h), made of events: calls that begin and end, and what else is told. */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_ITEMS_H
#define XAUDIT_TOOL_READ_API_CURSOR_ITEMS_H

#include "tool/read/api/cursor.h"

/* Reads on in c->record, to its end, its next stack (by turns) or until something waits. */
void read_api_read_on(struct xaudit_read_calls *c);

/* Takes one event, as reading on does; or what else a word says. */
void read_api_take_event(struct xaudit_read_calls *c, enum trace_type type, uint32_t id, uint64_t now, size_t at);
void read_api_take_rare(struct xaudit_read_calls *c, enum read_decoded what);

/* Takes one event that comes before c->from, without making anything of a call (cursor_ahead.h). */
void read_api_pass_over(struct xaudit_read_calls *c, enum trace_type type, uint32_t id, uint64_t now, size_t at);

/* Makes calls of those in c->calls that were passed over; not while something waits. */
void read_api_adopt(struct xaudit_read_calls *c);

/* The calls in c->calls have no end. */
void read_api_drop_calls(struct xaudit_read_calls *c);

/* The same of one that is open no more; NULL: it was passed over. */
void read_api_give_up(struct xaudit_read_calls *c, struct api_call *call, uint64_t now);

#endif
