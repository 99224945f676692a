/* SPDX-License-Identifier: MIT */
/*
 * The loop that counts (count.h): events of one thread record, and the open calls of its process's stacks. Only count.c
 * uses it. One thread per struct read_count.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_LOOP_H
#define XAUDIT_TOOL_READ_PROFILE_LOOP_H

#include "tool/read/profile/count.h"

/*
 * Counts events from where reading stopped, to the record's end or, by turns, to where its events come to another
 * stack; or until memory runs out.
 */
void read_count_events(struct read_count *count, struct read_turns_record *record);

/* The record has no more events: its open calls have no end. */
void read_count_record_ends(struct read_count *count, struct read_turns_record *record);

/* The row of a function of this process, or of one that meta does not name; remembers it by its id. */
uint32_t read_count_row_of_function(struct read_count *count, const struct read_function *function, uint32_t id);

/* The row has a new longest call. */
void read_count_max(struct read_count *count, uint32_t row, uint64_t time, uint64_t start);

/* A time in ticks, of the process, as rows have it with setup.scale. */
READ_INLINE uint64_t read_count_scale(const struct read_count *count, uint64_t ticks)
{
	return read_clock_units(&count->process->clock, ticks);
}

/* ---- what is common to calls that are counted one by one, and in runs (fast.h) ---- */

/* A call begins: it becomes the innermost of its row, in `open` of struct read_rows. frame: of struct read_calls. */
READ_INLINE void read_count_chain(const char *frame, uint32_t *open, struct read_call *call, uint32_t row)
{
	call->row = row;
	call->child = 0;
	call->inner = 0;
	call->outer = open[row];
	open[row] = (uint32_t)((const char *)call - frame);
}

/* A call of that time ends in another call of its row, at `outer` from the frame. */
READ_INLINE void read_count_recursive(char *frame, struct read_row *row, uint64_t outer, uint64_t time)
{
	((struct read_call *)(void *)(frame + outer))->inner += time;
	row->recursive += time;
}

/* Adds a call to its row. Returns whether it is the longest so far: then read_count_max() is next. */
READ_INLINE bool read_count_call(struct read_count *count, struct read_row *row, uint64_t time, uint64_t self)
{
	row->self += self;
	row->sum += time;
	if (read_unlikely(time < row->min))
		row->min = time;
	if (read_unlikely(!read_histogram_add(&count->rows.pool, &row->time, time)))
		count->damage->no_memory = true;
	return read_unlikely(time > row->max);
}

/*
 * The row of a thread of this process; name: where the trace says how it is called, or empty. later: it takes the place
 * of a name that is known.
 */
uint32_t read_count_row_of_thread(
	struct read_count *count, uint32_t tid, const char *name, size_t room, bool later);

#endif
