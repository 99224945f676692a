/* SPDX-License-Identifier: MIT */
/* The stacks that a cursor's calls (cursor.h) are on, and which of them its record is on. */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_STACKS_H
#define XAUDIT_TOOL_READ_API_CURSOR_STACKS_H

#include "tool/read/api/cursor.h"

/* From here on c->calls holds the calls of this stack; after the second one, of none. */
void read_api_take_up(struct xaudit_read_calls *c, struct read_stack_calls *stack);
void read_api_lay_down(struct xaudit_read_calls *c);

/* The calls that are open on the stacks that the record was the last one on have no end. c->calls holds no stack's. */
void read_api_drop(struct xaudit_read_calls *c, struct read_turns_record *record);

/* Does what the record's words about stacks, or about missing events, say. */
void read_api_switch_stack(struct xaudit_read_calls *c, enum read_decoded what);

/* The call becomes the innermost one of its function. slot->open: the next one further out. */
void read_api_open_again(struct api_call *call, struct api_call *parent);

#endif
