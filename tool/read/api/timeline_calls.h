/* SPDX-License-Identifier: MIT */
/* The calls that events of a timeline (timeline.h) begin and end: those of e->thread, at e->event. */
#ifndef XAUDIT_TOOL_READ_API_TIMELINE_CALLS_H
#define XAUDIT_TOOL_READ_API_TIMELINE_CALLS_H

#include "tool/read/api/timeline.h"

/* The values of an event of a call, until the next one. */
static inline struct xaudit_read_values read_api_values_of(
	struct xaudit_read_process *process, const struct read_merge_event *from)
{
	return (struct xaudit_read_values){ from->layout, from->data, (uint32_t)from->count, from->flawed,
		from->chain, process, from->ticks };
}

/* Takes a call, or an end of calls: e->values are those of the event. */
void read_api_take_call(struct xaudit_read_events *e, const struct read_merge_event *from);

/* Takes a call with its end, `end`. */
void read_api_take_leaf(
	struct xaudit_read_events *e, const struct read_merge_event *from, const struct read_merge_event *end);

/* The thread's events are on another stack from here on. */
void read_api_change_stack(struct event_thread *thread, const struct read_merge_event *event);

/* The record's events are another thread's from here on. Other threads may go on with the stacks that have numbers. */
void read_api_change_thread(struct event_thread *thread, uint32_t tid);

/* The thread has no more events, or some are missing here. */
void read_api_drop_thread(struct event_thread *thread);

/* The innermost call that is open on the thread's stack, and their number. */
void read_api_set_open(struct xaudit_read_event *event, const struct event_thread *thread);

/*
 * Before the first event (timeline_ahead.h): takes an event of which nothing is told; a call whose values, e->values,
 * are kept, of e->event->function; and, when that is over, makes a call of an open one, or adapts it. After all of a
 * stack: who is in whom.
 */
void read_api_pass_event(struct xaudit_read_events *e, enum trace_type type, uint32_t id, uint64_t now);
void read_api_pass_valued(struct xaudit_read_events *e, uint32_t id, uint64_t now);
void read_api_adopt_call(struct xaudit_read_events *e, struct event_process *process,
	const struct read_stack_calls *stack, struct read_call *frame);
void read_api_relink(struct read_stack_calls *stack);

/* Frees a block of calls. */
void read_api_free_block(struct xaudit_read_events *e, uint32_t number);

/* Calls that were told are free. */
void read_api_free_told(struct xaudit_read_events *e);

#endif
