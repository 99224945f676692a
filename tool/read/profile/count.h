/* SPDX-License-Identifier: MIT */
/*
 * Counting of a trace: one pass over each thread record, a row of numbers per function (or library, or thread).
 *
 * What is counted
 *	calls	TRACE_ENTRY and TRACE_POINT, whether an end follows or not.
 *	total	from entry to end, of outermost calls: while a call of a row is open on a stack, further calls of
 *		that row on that stack are in its time. If its time is not known, since it never ended, they count.
 *	self	from entry to end less the calls in between, of all calls that ended.
 *	min, percentiles, max: from entry to end of each call that ended, recursive calls too.
 * Each stack has its own open calls (tool/read/events/stacks.h). While a coroutine waits its calls stay open, and while
 * it runs so do the calls of the stack that started it. A process's records are read one after another, unless threads
 * went on with each other's calls (trace_head.moved): then by turns, from one change of stacks to the next, always the
 * record that is earliest in time. So a thread's calls on a stack are read after those of the thread that left it.
 *
 * tool/read/events/calls.h tells what ends a call. Calls that are open when the events of their thread end, or where
 * some are missing, are unfinished: counted as calls, but without time. A call has no time either if it has no end of
 * its own (it was unwound, or a call around it ended) and functions were switched off while it was open: it may have
 * ended at any moment after that. Counters add to calls alone. Custom events are counted by their types (customs.h),
 * probes by their names (probes.h).
 *
 * If only some calls are to be counted (a thread's, or those that began in some time), the others are followed all the
 * same, in row[0]. So counted calls have the same times as without the choice; only `total` differs, where a call that
 * is not counted is around one that is. Counters tell of no call when it began, so they count if there is no such
 * choice.
 *
 * The loop reads some 10^8 events per second, so it has no hashes and no divisions: an array lookup leads from an id to
 * its row, and times stay ticks until they are asked for (fast.h has the fastest part of it). Memory is taken for each
 * function that occurs (a row, a histogram), for the open calls of one process, and, where records are read by turns,
 * for a block of each. Nothing grows with the length of the trace. Where there is no memory the folder's damage says
 * so, and the numbers are not used.
 *
 * Work comes in tasks: a thread record, or all records of a process whose records are read by turns; and at last what
 * else a process has. Tasks are numbered. Each struct read_count is used by one thread, which takes some of them in
 * rising order; what several have counted is merged (read_count_merge()).
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_COUNT_H
#define XAUDIT_TOOL_READ_PROFILE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/read/events/calls.h"
#include "tool/read/events/stops.h"
#include "tool/read/events/thread_turns.h"
#include "tool/read/profile/customs.h"
#include "tool/read/profile/probes.h"
#include "tool/read/profile/rows.h"

/* The same for all threads that count. */
struct read_count_setup {
	int by; /* enum xaudit_read_by */
	bool apart;	       /* processes have rows of their own */
	struct read_clock unit; /* converts the rows' times to ns */
	bool scale;	       /* processes differ in their rates: times are in units (tool/read/clock.h), not ticks */
	uint32_t tid;	       /* only calls that this thread began; 0: all */
	uint64_t from, to;     /* only calls that began then: ns after the start of their trace. to 0: no end */
	/* Called after each block of events; user is the struct read_count's. NULL: nothing. */
	void (*block)(void *user, uint64_t bytes);
};

/* Sums over all. */
struct read_count_sums {
	uint64_t lost;
	uint64_t unfinished;
	uint64_t orphans;     /* ends of calls whose entry is missing */
	uint64_t inherited;   /* ends, in a forked process, of calls that its parent began */
	uint64_t points;      /* calls whose end is not recorded */
	uint64_t counted;     /* calls by counters */
	uint64_t no_end;      /* calls without time, since functions were switched off during them */
	uint64_t overwritten; /* chunks */
	uint64_t valued;      /* events with values */
	uint64_t crashes;
	int signal;	      /* of the last of them: in this task */
	uint32_t signal_task;
};

#define READ_COUNT_PAGE_BITS 16
#define READ_COUNT_PAGES     (1u << (TRACE_ID_BITS - READ_COUNT_PAGE_BITS))

/* fast.c's: which of its two ways is the faster one for these events. */
struct read_count_ways {
	unsigned runs, best;
	uint64_t words[2], ticks[2], most[2];
};

struct read_count {
	const struct read_count_setup *setup;
	void *user; /* of setup->block */
	struct read_damage *damage; /* of the folder that is being read */
	struct read_rows rows;
	struct read_count_sums sums;
	struct read_customs customs;
	struct read_probes probes;
	struct read_count_ways ways;
	uint32_t task;

	/* The process that is being counted. */
	struct read_process *process;
	uint32_t trace;	 /* number of its trace, and its own in that */
	uint32_t number;
	const struct read_sched *sched; /* its times on processors; NULL: not recorded */
	bool filtered;	 /* setup->tid, from or to say that not all calls count; the times in ticks: */
	uint64_t from, to;
	uint32_t pages; /* entries of page */
	/* function id -> row: page[id >> READ_COUNT_PAGE_BITS][id & ...]; 0 or no page: not asked for yet */
	uint32_t **page, *no_page;

	struct read_stops stops;

	struct read_stacks stacks; /* of the process */

	/* The thread record that is being read. */
	struct read_turns_record *record;
	struct read_stack_calls *stack; /* the stack of these calls: */
	/*
	 * Of each call, child is the time of the calls that it made; inner the time of its row's outermost calls that
	 * ended in it: the total, if its own time is not known; outer the next call of its row further out, in bytes
	 * from frame[0]; 0: none. With `sched`, on is its stack's clock at its start; on_child and on_inner are as
	 * child and inner, on processors.
	 */
	struct read_calls calls;
};

/* Have all calls of a thread record, or of a part of it, the same row? It is that of the thread, or of the process. */
static inline bool read_count_is_by_thread(const struct read_count *count)
{
	return count->setup->by >= XAUDIT_READ_BY_THREAD;
}

/* Returns false if there is no memory. damage: of what is read first. */
bool read_count_open(struct read_count *count, const struct read_count_setup *setup, struct read_damage *damage);
void read_count_close(struct read_count *count);

/*
 * From here on tasks are of this process, which is loaded until read_count_end(); trace: number of its trace, which
 * began at `start` (ns, CLOCK_MONOTONIC); number: that of the process in it. sched: the trace's, or NULL.
 */
void read_count_begin(struct read_count *count, struct read_process *process, uint32_t trace, uint32_t number,
	uint64_t start, const struct read_sched *sched);
void read_count_end(struct read_count *count);

/* How many tasks its thread records are; and does one of them. */
uint32_t read_count_tasks(const struct read_process *process);
void read_count_records(struct read_count *count, uint32_t task, uint32_t number);

/* The task after these. */
void read_count_rest(struct read_count *count, uint32_t task);

/* Adds what another one has counted. */
void read_count_merge(struct read_count *to, struct read_count *from);

#endif
