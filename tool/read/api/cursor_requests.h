/* SPDX-License-Identifier: MIT */
/*
 * Requests: which of them a cursor's calls (cursor.h) belong to. A call begins one that has a value with
 * VALUES_ROLE_REQUEST: it, and all calls in it. Events of the program's own (TRACE_TYPE_REQUEST) begin one that holds
 * for what is called afterwards on their stack, until its end, or until the call around it ends. Of several the one
 * that began last holds, and those before it again when it is over. What a call belongs to is known when it begins,
 * and does not change.
 *
 * The text of a request is there as long as a call has it. Only where the caller has asked for requests.
 */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_REQUESTS_H
#define XAUDIT_TOOL_READ_API_CURSOR_REQUESTS_H

#include "tool/read/api/cursor.h"

/* A call begins, or is told alone; its values are kept. call: not c->last_resort. */
void read_api_request_enter(struct xaudit_read_calls *c, struct api_call *call, const struct api_call *parent);

/* The memory of a call is used again. */
void read_api_request_forget(struct xaudit_read_calls *c, struct api_call *call);

/* An event of the program's own may begin a request, or end one. c->calls.top is up to date. */
void read_api_request_event(struct xaudit_read_calls *c, const struct read_decode_custom *custom);

/* What was begun on a stack, but in no call of it, is not known any more. As a hook of read_stacks_each(). */
void read_api_request_drop(void *user, struct read_stack_calls *stack);

#endif
