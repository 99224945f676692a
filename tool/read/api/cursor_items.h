/* SPDX-License-Identifier: MIT */
/* Items of a cursor (cursor.h), made of events: calls that begin and end, and what else is told. */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_ITEMS_H
#define XAUDIT_TOOL_READ_API_CURSOR_ITEMS_H

#include "tool/read/api/cursor.h"

/* From here on c->calls holds the calls of this stack; after the second one, of none. */
void read_api_take_up(struct xaudit_read_calls *c, struct read_stack_calls *stack);
void read_api_lay_down(struct xaudit_read_calls *c);

/* The calls that are open on the stacks that the record was the last one on have no end. c->calls holds no stack's. */
void read_api_drop(struct xaudit_read_calls *c, struct read_turns_record *record);

/* Reads on in c->record, to its end, its next stack (by turns) or until something waits. */
void read_api_read_on(struct xaudit_read_calls *c);

#endif
