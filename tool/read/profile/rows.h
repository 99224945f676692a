/* SPDX-License-Identifier: MIT */
/*
 * The rows of a profile: one per function, library, thread or process, found by what they are about. row[0] is none:
 * what is not to be counted goes there, and so does all when there is no memory (the damage says so).
 *
 * Rows that several threads have counted are merged: of each number the result is the same as if one thread had counted
 * all. Where order decides, the order of tasks does (count.h): each thread takes its tasks in rising order.
 *
 * One thread. Pointers to rows are valid until the next row is made.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_ROWS_H
#define XAUDIT_TOOL_READ_PROFILE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/damage/error.h"
#include "tool/read/profile/histogram.h"

/* What a row is about. */
struct read_row_key {
	const char *name;    /* of the function; else NULL */
	const char *library; /* path, by function or library; else NULL */
	uint32_t trace, pid; /* by thread, process, or if these are apart; else 0 */
	uint32_t tid;	     /* by thread; else 0 */
	uint32_t process;    /* by process: its number in the trace; else 0 */
};

/* Times are in units of struct read_count_setup.unit. What a call that ends changes is in the first cache line. */
struct read_row {
	uint64_t self;
	uint64_t sum;	    /* of all calls whose time is known, which are those in the histogram */
	uint64_t recursive; /* of those in calls of the same row */
	uint64_t given;	    /* of calls in calls whose own time is not known: belongs to `total` */
	uint64_t min, max;  /* UINT64_MAX, 0: none ended */
	uint64_t untimed;   /* calls without time */
	uint64_t counted;   /* of these, those that were only counted */
	struct read_histogram time;
	struct read_row_key key; /* its texts are the row's */
	char *aliases;		 /* as read_function.aliases; NULL: none, so far */
	char *thread;		 /* the last name of the thread, or NULL; from this task, plus one: */
	uint32_t thread_task;	 /* 0: from counters, whose names may be older */
	/*
	 * Ticks on processors, of `total` and of `self`: of the calls for which that is known; and how many are not.
	 * Used if switches were recorded (struct read_count.sched).
	 */
	uint64_t on, on_self, on_unknown;
	/* The first call that took `max`: its task, thread and start (ns, CLOCK_MONOTONIC). */
	uint32_t max_task, max_trace, max_pid, max_tid;
	uint64_t max_start;
	uint64_t throttled;	  /* ns, CLOCK_MONOTONIC: since when its calls are only counted; 0: not throttled */
	uint64_t throttled_after; /* that moment, from the start of its process on */
	uint32_t throttled_task;
} __attribute__((aligned(64)));

struct read_rows {
	struct read_row *row;
	uint32_t rows, room; /* row[0 ... rows-1] */
	/* Of each row the innermost open call of the stack at hand, in bytes from calls.frame[0]; 0: none. */
	uint32_t *open;
	struct read_histogram_pool pool; /* of all rows */
	struct hash by_key;
};

/* Returns false if there is no memory. */
bool read_rows_open(struct read_rows *rows, struct read_damage *damage);
void read_rows_close(struct read_rows *rows);

/* The index of a row, made if it is new; 0: there is no memory. */
uint32_t read_rows_find(struct read_rows *rows, struct read_damage *damage, const struct read_row_key *key);

/* Adds what other rows have counted. */
void read_rows_merge(struct read_rows *to, struct read_rows *from, struct read_damage *damage);

#endif
