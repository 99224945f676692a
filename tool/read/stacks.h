/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a process, each with its open calls (tool/read/calls.h): who reads events of a thread record goes from
 * one to another where TRACE_STACK says so (struct read_decoder.stack), so that a call that another thread goes on with
 * ends there, if both are read in the order of time. The calls of events without such a number are their record's own.
 *
 * What is open on a stack where a record's events are missing has no end (read_stacks_each()), if that record was the
 * last one to be on it: what others suspended there may have gone on meanwhile, and what of it is over is met when a
 * call around it ends.
 *
 * Works on what it is given alone; nothing here is thread-safe or async-signal-safe. Memory: per stack that has open
 * calls, or where a record is; where there is none, NULL is returned instead of a stack, and the record stays where it
 * was.
 */
#ifndef XAUDIT_TOOL_READ_STACKS_H
#define XAUDIT_TOOL_READ_STACKS_H

#include "tool/read/calls.h"

struct read_stack_calls {
	struct read_calls calls;
	uint32_t number;
	unsigned users;		  /* records whose events are on it */
	const void *record;	  /* whose events were on it last */
	struct read_stack_calls *next; /* in its bucket */
};

struct read_stacks {
	struct read_stack_calls **bucket;
	uint32_t buckets, count; /* buckets: a power of two, or 0 */
	struct read_stack_calls *spare;
};

/* The events of the record are on this stack from here on; number 0: one of its own. */
struct read_stack_calls *read_stacks_enter(struct read_stacks *stacks, uint32_t number, const void *record);

/* ... and not any more. Where no call is open, it is gone. */
void read_stacks_leave(struct read_stacks *stacks, struct read_stack_calls *stack);

/*
 * What seemed to be one stack was two (TRACE_PART): goes from it to the other one, which gets all of its calls but the
 * `kept` innermost ones.
 */
struct read_stack_calls *read_stacks_part(
	struct read_stacks *stacks, struct read_stack_calls *stack, uint32_t number, size_t kept, const void *record);

/* Calls do_it for each stack that the record was the last one on; NULL: any. It may leave none. */
void read_stacks_each(struct read_stacks *stacks, const void *record,
	void (*do_it)(void *user, struct read_stack_calls *stack), void *user);

void read_stacks_close(struct read_stacks *stacks);

#endif
