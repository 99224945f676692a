/* SPDX-License-Identifier: MIT */
/*
 * Counting of a trace: one pass over each thread file, a row of numbers per function (or library, or thread).
 *
 * What is counted
 *	calls	TRACE_ENTRY and TRACE_POINT, whether an end follows or not.
 *	total	from entry to end, of outermost calls: while a call of a row is open on a stack, further calls of
 *		that row on that stack are in its time. If its time is not known, since it never ended, they count.
 *	self	from entry to end less the calls in between, of all calls that ended.
 *	min, percentiles, max: from entry to end of each call that ended, recursive calls too.
 * Each stack has its own open calls (tool/read/stacks.h). While a coroutine waits its calls stay open, and while it
 * runs so do the calls of the stack that started it. A process's records are read one after another, unless threads
 * went on with each other's calls (trace_head.moved): then by turns, from one change of stacks to the next, always the
 * record that is earliest in time. So a thread's calls on a stack are read after those of the thread that left it;
 * where two records seemed to be on one stack at once (TRACE_PART), calls of one may be taken for the other's.
 *
 * tool/read/calls.h tells what ends a call. Calls that are open when the events of their thread end, or where some are
 * missing, are unfinished: counted as calls, but without time. A call has no time either if it has no end of its own
 * (it was unwound, or a call around it ended) and functions were switched off while it was open: it may have ended at
 * any moment since. Counters (c<n>) add to calls alone. Custom events are counted by their types (report_events.h).
 *
 * The loop reads some 10^8 events per second, so it has no hashes and no divisions: two array lookups lead from an id
 * to its row, and times stay ticks until they are printed. Memory is taken for each function that occurs (a row, a
 * histogram), for the open calls of one process, and, where records are read by turns, for a block of each. Nothing
 * grows with the length of the trace.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_COUNT_H
#define XAUDIT_TOOL_SHOW_REPORT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/show/histogram.h"
#include "tool/show/report_events.h"
#include "tool/read/calls.h"
#include "tool/read/events.h"
#include "tool/read/folder.h"
#include "tool/read/stacks.h"

enum count_by { COUNT_BY_FUNCTION, COUNT_BY_LIBRARY, COUNT_BY_THREAD };

struct count_row {
	/* Written by each call: one cache line. In units of struct counter.unit. */
	uint64_t calls;
	uint64_t self;
	uint64_t total;
	uint64_t sum; /* of all calls that ended, recursive calls too */
	uint64_t min; /* UINT64_MAX: none ended */
	uint64_t max;
	uint64_t frame; /* the row's innermost open call of the present stack, in bytes from calls.frame[0]; 0: none */
	uint64_t counted; /* of the calls, those that were only counted */
	struct histogram time;
	char *name;    /* of the function or thread; NULL: by library */
	char *library; /* path; NULL: by thread */
	uint32_t pid, tid;
	uint64_t throttled; /* ns, CLOCK_MONOTONIC: since when its calls are only counted; 0: not throttled */
	uint64_t throttled_after; /* that moment, from the start of its process on */
	uint32_t next; /* row with the same hash, 0: none */
};

#define COUNT_PAGE_BITS 10
#define COUNT_PAGES	(1u << (TRACE_ID_BITS - COUNT_PAGE_BITS))

struct counter {
	enum count_by by;
	struct read_clock unit; /* converts the rows' times to ns */
	bool scale;	   /* processes differ in their rates: times are in units of ns/16, not ticks */

	struct count_row *row; /* row[0] is none */
	uint32_t rows, room;
	uint32_t *hash, hash_mask;

	/* The process that is being counted. */
	struct read_process *process;
	uint32_t pages; /* entries of page */
	/* function id -> row: page[id >> COUNT_PAGE_BITS][id & ...]; 0 or no page: not asked for yet */
	uint32_t **page;

	uint64_t *cut; /* ticks, rising: when recording of functions ended */
	uint32_t cuts;

	struct read_stacks stacks; /* of the process */

	/* The thread record that is being read. */
	struct count_record *record;
	struct read_stack_calls *stack; /* the stack of these calls: */
	/*
	 * Of each call, child is the time of the calls that it made; inner the time of its row's outermost calls that
	 * ended in it: the total, if its own time is not known; outer the next call of its row further out, in bytes
	 * from frame[0]; 0: none.
	 */
	struct read_calls calls;

	/* Sums over all. */
	uint64_t lost;
	uint64_t unfinished;
	uint64_t orphans; /* ends of calls whose entry is missing */
	uint64_t inherited; /* ends, in a forked process, of calls that its parent began */
	uint64_t points;  /* calls whose end is not recorded */
	uint64_t counted; /* calls of c<n> */
	uint64_t no_end;  /* calls without time, since functions were switched off during them */
	uint64_t overwritten; /* chunks */
	uint64_t crashes;
	int signal; /* of the last of them */
	struct event_counter events; /* custom events */
};

/* Counts all of the folder. What can't be read is noted as the folder's damage. */
void count_folder(struct counter *counter, struct read_folder *folder, enum count_by by);

void count_free(struct counter *counter);

#endif
