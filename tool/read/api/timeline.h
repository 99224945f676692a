/* SPDX-License-Identifier: MIT */
/*
 * The cursor behind xaudit_read_events(): the merge's events (timeline.c), with the calls that they begin and end,
 * which the one builder makes (timeline_calls.c). What ends at one event is told with it; calls that have no end are
 * told before the event for which they are given up, a stack at a time.
 */
#ifndef XAUDIT_TOOL_READ_API_TIMELINE_H
#define XAUDIT_TOOL_READ_API_TIMELINE_H

#include "tool/read/api/api.h"
#include "tool/read/api/values.h"
#include "tool/read/events/merge.h"
#include "tool/read/events/stacks.h"

/* A call that is open, or was told. */
struct event_call {
	struct xaudit_read_call public;
	struct read_api_values *entered, *ended;
	bool early; /* it began before the first event that is told: nothing is known of what was called in it then */
	struct event_call *next; /* of those that were told, or are free */
};

struct event_process {
	struct xaudit_read_process *process;
	struct read_stacks stacks;
	const struct xaudit_read_function ***page; /* by index of the function in the process */
	uint32_t pages;
};

/* A thread record's present thread. */
struct event_thread {
	struct xaudit_read_events *events;
	struct event_process *process;
	struct read_stack_calls *on; /* the stack that its events are on */
	uint32_t tid;
	bool stack_told;
};

struct xaudit_read_events {
	struct xaudit_read_trace *trace;
	struct xaudit_read_events *older; /* of the trace */
	struct read_damage *damage;
	bool leaves, loader, probes, ended;
	bool ahead; /* on the way to `from`, ns: nothing is told */
	uint64_t from;
	uint32_t tail; /* calls of each thread; 0: all */
	struct read_merge merge;
	struct event_process *process; /* as merge.process */
	struct event_call **block;     /* all calls that were allocated */
	uint32_t blocks;
	struct event_call *spare, *told;
	/* The event at hand, and who made it. */
	struct xaudit_read_event *event;
	struct event_thread *thread;
	struct xaudit_read_values values; /* of that event; layout NULL: it has none */
	struct xaudit_read_change change;
	/* Copied to begin with: gcc would clear by an instruction that takes longer than all else (rep stos). */
	struct xaudit_read_event no_event;
	struct xaudit_read_call no_call;
	/* Stacks whose calls have no end, which are told one by one, and the event that comes after them. */
	struct xaudit_read_event *unfinished;
	size_t unfinished_count, unfinished_at;
	struct xaudit_read_event held;
	bool is_held;
};

#endif
