/* SPDX-License-Identifier: MIT */
#include "tool/read/api/cursor_requests.h"

#include <stdlib.h>
#include <string.h>

#define MOST 65536 /* begun, and not ended: of more, the newest takes the place of the one before it */

/* Shared by those that have it. */
struct api_request {
	uint32_t users;
	char text[];
};

/* Of requests that were begun in one call, or on a stack outside of its calls; the newest first. */
struct read_stack_held {
	struct api_request *request;
	struct read_stack_held *next;
};

static struct api_request *share(struct api_request *request)
{
	if (request)
		request->users++;
	return request;
}

static void leave(struct api_request *request)
{
	if (request && !--request->users)
		free(request);
}

static void end_first(struct xaudit_read_calls *c, struct read_stack_held **begun)
{
	struct read_stack_held *first = *begun;

	*begun = first->next;
	leave(first->request);
	free(first);
	c->begun--;
}

static void end_all(struct xaudit_read_calls *c, struct read_stack_held **begun)
{
	while (*begun)
		end_first(c, begun);
}

/* Its user is the caller. NULL: no memory. */
static struct api_request *make(struct xaudit_read_calls *c, const struct xaudit_read_value *value)
{
	size_t size = xaudit_read_value_text(value, NULL, 0) + 1;
	struct api_request *request = read_memory_zeroed(c->damage, sizeof(*request) + size, 1);

	c->ready |= !request;
	if (!request)
		return NULL;
	request->users = 1;
	xaudit_read_value_text(value, request->text, size);
	return request;
}

/* The one that the call begins by a value. */
static struct api_request *own(struct xaudit_read_calls *c, const struct api_call *call)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t count = xaudit_read_values(call->public.entered, value, XAUDIT_READ_VALUES);

	for (uint32_t i = 0; i < count; i++)
		if (value[i].role == XAUDIT_READ_VALUE_REQUEST)
			return make(c, &value[i]);
	return NULL;
}

void read_api_request_enter(struct xaudit_read_calls *c, struct api_call *call, const struct api_call *parent)
{
	const struct read_stack_held *begun = parent ? parent->begun : c->stack->held;

	call->request = own(c, call);
	if (!call->request)
		call->request = share(begun ? begun->request : parent ? parent->request : NULL);
	call->public.request = call->request ? call->request->text : NULL;
}

void read_api_request_forget(struct xaudit_read_calls *c, struct api_call *call)
{
	leave(call->request);
	call->request = NULL;
	end_all(c, &call->begun);
}

/* Where a request that begins now is kept. */
static struct read_stack_held **innermost(struct xaudit_read_calls *c)
{
	if (c->calls.top > c->calls.frame)
		return &((struct api_call *)c->calls.top->user)->begun;
	return &c->stack->held;
}

static void begin(struct xaudit_read_calls *c, const struct xaudit_read_value *value)
{
	struct read_stack_held **to = innermost(c), *begun;

	if (c->begun == MOST && *to)
		end_first(c, to);
	if (c->begun == MOST)
		return;
	begun = read_memory_zeroed(c->damage, 1, sizeof(*begun));
	c->ready |= !begun;
	if (!begun)
		return;
	begun->request = make(c, value);
	begun->next = *to;
	*to = begun;
	c->begun++;
}

/* The newest one is over; it may have been begun in a call further out. */
static void end(struct xaudit_read_calls *c)
{
	for (struct read_call *frame = c->calls.top; frame > c->calls.frame; frame--) {
		struct api_call *call = frame->user;
		if (call->begun) {
			end_first(c, &call->begun);
			return;
		}
	}
	if (c->stack->held)
		end_first(c, &c->stack->held);
}

void read_api_request_event(struct xaudit_read_calls *c, const struct read_decode_custom *custom)
{
	struct xaudit_read_value value = { .type = XAUDIT_READ_VALUE_TEXT, .words = "", .name = "" };

	switch (custom->type) {
	case TRACE_TYPE_REQUEST:
		value.text = (const char *)custom->data;
		value.size = custom->size;
		begin(c, &value);
		break;
	case TRACE_TYPE_REQUEST_NUMBER:
		value.type = XAUDIT_READ_VALUE_UNSIGNED;
		value.size = sizeof(value.number);
		if (custom->size == sizeof(value.number))
			memcpy(&value.number, custom->data, sizeof(value.number));
		begin(c, &value);
		break;
	case TRACE_TYPE_REQUEST_END:
		end(c);
		break;
	}
}

void read_api_request_drop(void *user, struct read_stack_calls *stack)
{
	end_all(user, &stack->held);
}
