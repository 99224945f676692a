/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a process, each with its open calls (tool/read/events/calls.h): code that reads events of a thread
 * record changes stacks where TRACE_STACK says so (struct read_decoder.stack). So a call that begins in one thread and
 * goes on in another ends there, if both are read in the order of time. Events without a stack's number belong to calls
 * of their record alone.
 *
 * Where a record's events are missing, open calls get no end (read_stacks_each()) on the stacks that this record was
 * the last one to be on. On other stacks calls may have gone on in the missing part; those that are over are seen when
 * a call around them ends.
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe. Memory: per stack that has open
 * calls, or that a record is on, or of which the caller holds something; if there is no memory, NULL is returned
 * instead of a stack, and the record stays on its stack.
 */
#ifndef XAUDIT_TOOL_READ_STACKS_H
#define XAUDIT_TOOL_READ_STACKS_H

#include "tool/read/events/calls.h"

struct read_stack_held;

struct read_stack_calls {
	struct read_calls calls;
	uint32_t number;
	unsigned users;		  /* records whose events are on it */
	const void *record;	  /* the record whose events were on it last */
	struct read_stack_held *held; /* the caller's, first NULL: while it is set, the stack is not freed */
	uint64_t on, unknown;	  /* the caller's, first 0: see struct read_sched_stack */
	struct read_stack_calls *next; /* in its bucket */
};

struct read_stacks {
	struct read_stack_calls **bucket;
	uint32_t buckets, count; /* buckets: a power of two, or 0 */
	struct read_stack_calls *spare;
};

/* The events of the record are on this stack from here on; number 0: a stack of its own. */
struct read_stack_calls *read_stacks_enter(struct read_stacks *stacks, uint32_t number, const void *record);

/* The events of a record leave this stack. If no call is open on it, it is freed. */
void read_stacks_leave(struct read_stacks *stacks, struct read_stack_calls *stack);

/* How many of the stack's open calls stay there when it is parted, as TRACE_PART says: read_decoder.calls, outer. */
static inline size_t read_stacks_kept(const struct read_stack_calls *stack, uint32_t calls, bool outer)
{
	size_t depth = read_calls_depth(&stack->calls);

	return !outer ? calls : depth > calls ? depth - calls : 0;
}

/*
 * How many of the calls that go to the other stack when this one is parted that one has already, as it seems: the
 * outermost ones of this stack. They are not open twice.
 */
static inline size_t read_stacks_twice(
	const struct read_stack_calls *stack, const struct read_stack_calls *other, size_t kept)
{
	size_t depth = read_calls_depth(&stack->calls), moved = kept < depth ? depth - kept : 0,
	       had = read_calls_depth(&other->calls);

	return other == stack ? 0 : had < moved ? had : moved;
}

/*
 * What seemed to be one stack was two (TRACE_PART): the record goes from it to the other one, which gets all of its
 * calls but the `kept` innermost.
 */
struct read_stack_calls *read_stacks_part(
	struct read_stacks *stacks, struct read_stack_calls *stack, uint32_t number, size_t kept, const void *record);

/*
 * Calls do_it for each stack that the record was the last one on; record NULL: for all stacks. do_it may not leave a
 * stack.
 */
void read_stacks_each(struct read_stacks *stacks, const void *record,
	void (*do_it)(void *user, struct read_stack_calls *stack), void *user);

void read_stacks_close(struct read_stacks *stacks);

#endif
