/* SPDX-License-Identifier: MIT */
/*
 * The cursor behind xaudit_read_calls(). cursor_items.h makes items of events, cursor.c goes through processes and
 * their records.
 *
 * Events are taken one by one, by the one decoder and the one builder of calls, up to an event of which the caller is
 * told something. What one event tells (calls that end together) waits in a list through the calls themselves. So there
 * are no allocations but for more open calls than ever before, and for functions that are met first.
 *
 * A call is the caller's from its item on until it asks for the next one; then it is free for another call.
 */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_H
#define XAUDIT_TOOL_READ_API_CURSOR_H

#include "tool/read/api/api.h"
#include "tool/read/api/values.h"
#include "tool/read/events/counts.h"
#include "tool/read/events/stops.h"
#include "tool/read/events/thread_turns.h"

/* A call that is open, or waits to be told. Times are in units of xaudit_read_calls.unit. */
struct api_call {
	struct xaudit_read_call public;
	struct api_slot *slot;
	struct api_call *outer;	 /* the next open call of its function further out, on its stack */
	struct api_call *around; /* the same, of those that are not left out */
	uint64_t inner; /* the time of the calls whose `around` it is: its total, if its own time is not known */
	uint64_t time;	/* ticks: when it was over */
	struct read_api_values *entered, *ended;
	struct api_request *request; /* that it belongs to; NULL: none, or they were not asked for */
	struct read_stack_held *begun;     /* that began in it, by events */
	uint64_t on, on_child; /* ticks on processors: its stack's clock at its start; of the calls that it made */
	bool left_out;
	struct api_call *next; /* in the list of those that wait, or that are free */
};

/* A function. */
struct api_slot {
	const struct xaudit_read_function *function;
	struct api_call *open; /* its innermost open call on the stack at hand */
	/* What was told of all its calls: in units, and in ns. */
	uint64_t self, self_ns, total, total_ns;
};

/* Calls of an allocation, by its number: each is twice the one before, up to a limit. */
static inline size_t api_block_calls(uint32_t number)
{
	return (size_t)64 << (number < 16 ? number : 16);
}

#define API_PAGE_BITS 10
#define API_PAGES     (1u << (TRACE_ID_BITS - API_PAGE_BITS))
#define API_PAGE_MASK ((1u << API_PAGE_BITS) - 1)

struct xaudit_read_calls {
	struct xaudit_read_trace *trace;
	struct xaudit_read_calls *older; /* of the trace */
	struct read_damage *damage;
	bool enters, customs, probes, losses, counted, values, requests;
	bool to_end; /* reading goes on behind `to` */
	uint32_t tid;
	uint64_t from, to;
	uint64_t from_ticks, to_ticks; /* the same in the process at hand; from_ticks 0: its beginning */
	uint64_t wanted; /* calls that are open and will be told */
	const struct read_sched *sched; /* times on processors; NULL: not recorded */
	struct read_clock unit; /* converts units to ns */
	bool scale;		/* processes differ in their rates: units (tool/read/clock.h), not ticks */
	struct xaudit_read_sums sums;
	uint64_t done, all; /* bytes; all 0: not asked for yet */
	bool ended;

	/* Functions: by number in the trace; and of the process at hand, by id. */
	struct api_slot **slot;
	uint32_t slots;
	struct api_slot none; /* where there is no memory */
	struct api_slot ***page;
	uint32_t pages;

	/* Calls. */
	struct api_call **block; /* all that were allocated */
	uint32_t blocks;
	struct api_call *spare;
	uint64_t ids; /* calls that began */
	uint32_t begun; /* requests that events began, and that are not over */
	struct api_call *told; /* the caller has it */
	struct api_call *waiting, **waiting_end;
	struct api_call *entered;	 /* a XAUDIT_READ_ENTER waits */
	struct xaudit_read_item other; /* waits behind the calls; what 0: none */
	struct read_api_values *other_values; /* memory of its values */
	bool ready;			 /* something waits */
	struct api_call last_resort;	 /* where there is no memory */
	/* The values of the event at hand, if they are asked for; NULL: it has none */
	const struct read_decode_values *has;

	/* The process at hand. */
	uint32_t first_process, next_process, last_process;
	struct xaudit_read_process *process; /* NULL: none */
	struct read_stops stops;
	uint64_t lost_told;
	struct read_stacks stacks;
	struct read_stack_calls **dropped; /* those whose calls are given up */
	uint32_t drops;
	struct read_turns_record *records; /* by turns: all; else one */
	unsigned open, next_record, closed;
	bool by_turns;
	struct read_turns_record *record;	/* whose events are being read; NULL: none */
	struct read_stack_calls *stack; /* the stack of these calls: */
	struct read_calls calls;
	bool passed; /* some of these may have been passed over (cursor_ahead.h) */
	struct read_counts *counts; /* NULL: no counters are being read */
	unsigned next_counts;
};

#endif
