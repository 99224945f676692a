/* SPDX-License-Identifier: MIT */
#include "tool/read/events/calls.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64

bool read_calls_open(struct read_calls *calls)
{
	struct read_call *memory = calloc(ROOM_FIRST + 1, sizeof(*memory));

	if (!memory)
		return false;
	*calls = (struct read_calls){ .frame = memory + 1 };
	calls->top = calls->frame;
	calls->limit = calls->frame + ROOM_FIRST;
	calls->frame->id = UINT32_MAX;
	return true;
}

void read_calls_close(struct read_calls *calls)
{
	if (calls->frame)
		free(calls->frame - 1);
}

bool read_calls_grow(struct read_calls *calls)
{
	size_t depth = read_calls_depth(calls), room = (size_t)(calls->limit - calls->frame);

	if (room >= READ_CALLS_MOST)
		return false;
	struct read_call *memory = calloc(room * 2 + 1, sizeof(*memory));
	if (!memory) {
		calls->no_memory = true;
		return false;
	}
	memcpy(memory, calls->frame - 1, (depth + 2) * sizeof(*memory));
	free(calls->frame - 1);
	calls->frame = memory + 1;
	calls->top = calls->frame + depth;
	calls->limit = calls->frame + room * 2;
	return true;
}

void read_calls_drop(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user)
{
	while (calls->top > calls->frame) {
		if (hooks->drop)
			hooks->drop(user, calls->top);
		calls->top--;
	}
	calls->frame->child = 0;
}

static void end(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user, enum trace_type type,
	uint32_t id, uint64_t now, size_t at)
{
	struct read_call *call = calls->top;

	if (call->id != id && (!hooks->may_be_open || hooks->may_be_open(user, id, at)))
		while (call > calls->frame && call->id != id)
			call--;
	if (call == calls->frame || call->id != id) {
		if (hooks->orphan && type != TRACE_UNWIND)
			hooks->orphan(user, id, now);
		return;
	}
	while (calls->top > call) {
		hooks->end(user, calls->top, READ_CALL_CUT, now);
		calls->top--;
	}
	hooks->end(user, call, (enum read_call_end)type, now);
	calls->top--;
}

void read_calls_take_rare(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user,
	enum trace_type type, uint32_t id, uint64_t now, size_t at)
{
	if (type == TRACE_POINT)
		hooks->point(user, id, now, at);
	else
		end(calls, hooks, user, type, id, now, at);
}

void read_calls_take(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user, enum trace_type type,
	uint32_t id, uint64_t now)
{
	struct read_call *top = calls->top;

	read_calls_event(calls, &top, hooks, user, type, id, now, 0);
	calls->top = top;
}
