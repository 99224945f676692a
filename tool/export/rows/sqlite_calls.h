/* SPDX-License-Identifier: MIT */
/*
 * Rows of the table calls of a database (sqlite_tables.h). They wait here until there are many, and go into the table
 * in the order of their numbers: behind the last row of a table SQLite appends, three times as fast as it finds a place
 * in the middle. Calls come when they are over, so few have to go there.
 *
 * SQLite fetches them itself, by one statement for all, from the virtual table `waiting`, which is not part of the
 * file. That takes half of the time of a statement for each of them. And it does so in the second thread of the tables,
 * while the caller makes the next rows. One thread calls this.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_SQLITE_CALLS_H
#define XAUDIT_TOOL_EXPORT_ROWS_SQLITE_CALLS_H

#include "tool/export/rows/sqlite_tables.h"

/* A call, as the columns of its table have it. */
struct sqlite_call {
	uint64_t id, parent; /* 0: none */
	uint64_t start, duration, self, total, cpu; /* duration, cpu: XAUDIT_READ_UNKNOWN if that is not known */
	uint32_t function, thread, track, depth;
	uint32_t request; /* 0: none */
	const char *how; /* constant; NULL: it returned */
};

struct sqlite_calls {
	struct sqlite_tables *tables;
	struct sqlite_call *call; /* that wait */
	uint32_t count;
	struct sqlite_call *going; /* that go into the table; the second thread's until sqlite_wait() returns */
	uint32_t going_count;
	uint32_t *order, *spare; /* their places, in the order of numbers; room to make that */
	sqlite3_stmt *insert;
};

/* Begins, when the tables are there. */
void sqlite_calls_begin(struct sqlite_calls *calls, struct sqlite_tables *tables);

/* The place of the next row, which the caller fills. */
struct sqlite_call *sqlite_calls_next(struct sqlite_calls *calls);

/* Hands over those that wait. */
void sqlite_calls_end(struct sqlite_calls *calls);

/* Before the tables are closed. */
void sqlite_calls_free(struct sqlite_calls *calls);

#endif
