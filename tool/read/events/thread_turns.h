/* SPDX-License-Identifier: MIT */
/*
 * The thread records of a process, each with the stack that its events are on (tool/read/events/stacks.h), as code
 * reads them that follows calls: one record after another, or by turns, if threads went on with each other's calls
 * (trace_head.moved): from one change of stacks to the next, always the record that is earliest in time.
 *
 *	read_turns_open(&record[i], ...)	of each that has events
 *	while ((record = read_turns_first(...)))
 *		read_turns_take_up(); read its events up to where they come to another stack; read_turns_lay_down();
 *		set `next` and `over`
 *	read_turns_close(&record[i], ...)
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_EVENTS_THREAD_TURNS_H
#define XAUDIT_TOOL_READ_EVENTS_THREAD_TURNS_H

#include "tool/read/events/events.h"
#include "tool/read/process.h"
#include "tool/read/events/stacks.h"
#include "tool/read/sched/sched_cursor.h"

/* A thread record that is being read. */
struct read_turns_record {
	struct read_events source;
	bool by_turns; /* reading stops where its events come to another stack */
	bool over;
	uint64_t next; /* ticks: where it goes on */
	struct read_stack_calls *stack;
	struct read_sched_stack on; /* if times on processors are known */
	/* The caller's, first 0: */
	bool turn;		      /* its turn is over */
	bool cut;		      /* the rest is not read */
	uint32_t thread_row;
	char thread[sizeof(((struct trace_chunk *)0)->comm) + 1];
};

static inline bool read_turns_needed(const struct read_process *process)
{
	return process->head.moved && process->threads > 1;
}

/*
 * Opens a record, on a stack of its own. sched: NULL: times on processors are not asked for. Returns false if it has no
 * events, or where there is no memory, which is noted.
 */
bool read_turns_open(struct read_turns_record *record, struct read_process *process, unsigned number, bool by_turns,
	struct read_stacks *stacks, const struct read_sched *sched);

/* The calls that are open on its stacks were told, or have been dropped. */
void read_turns_close(struct read_turns_record *record, struct read_stacks *stacks);

/* The record whose next event is the earliest; NULL: all are at their end. */
struct read_turns_record *read_turns_first(struct read_turns_record *record, unsigned records);

/* An end whose entry is missing: of a call that the parent of a forked process began, or an orphan. */
static inline void read_turns_orphan(
	const struct read_process *process, const struct read_calls *calls, uint64_t *inherited, uint64_t *orphans)
{
	++*(read_process_is_forked(process) && !read_calls_depth(calls) ? inherited : orphans);
}

/* From here on `calls` holds the calls of this stack, which the record is on; after the second one, of none. */
READ_INLINE void read_turns_take_up(
	struct read_turns_record *record, struct read_stack_calls *stack, struct read_calls *calls, bool sched)
{
	record->stack = stack;
	*calls = stack->calls;
	if (sched)
		read_sched_take_up(&record->on, stack->on, stack->unknown, record->source.decoder.now);
}

READ_INLINE void read_turns_lay_down(
	struct read_turns_record *record, struct read_stack_calls *stack, const struct read_calls *calls, bool sched)
{
	stack->calls = *calls;
	if (sched)
		read_sched_lay_down(&record->on, &stack->on, &stack->unknown, record->source.decoder.now);
}

#endif
