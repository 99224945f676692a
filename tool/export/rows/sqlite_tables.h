/* SPDX-License-Identifier: MIT */
/*
 * The database of the format sqlite: its tables, and rows for them. The first error is told in a line, and sets
 * export->failed; what comes behind it does nothing.
 *
 * One thread calls this. A second one, which this has, does what may take long while the caller goes on: SQLite is
 * never in two of them, since all that needs it waits for the second one first.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_SQLITE_TABLES_H
#define XAUDIT_TOOL_EXPORT_ROWS_SQLITE_TABLES_H

#include <pthread.h>
#include <sqlite3.h>

#include "tool/base/late.h"
#include "tool/export/format.h"

#define SQLITE_FUNCTIONS(each)      \
	each(sqlite3_bind_blob)     \
	each(sqlite3_bind_blob64)   \
	each(sqlite3_bind_double)   \
	each(sqlite3_bind_int64)    \
	each(sqlite3_bind_null)     \
	each(sqlite3_bind_text)     \
	each(sqlite3_close)         \
	each(sqlite3_create_module) \
	each(sqlite3_declare_vtab)  \
	each(sqlite3_errmsg)        \
	each(sqlite3_errstr)        \
	each(sqlite3_exec)          \
	each(sqlite3_finalize)      \
	each(sqlite3_open_v2)       \
	each(sqlite3_prepare_v3)    \
	each(sqlite3_reset)         \
	each(sqlite3_result_int64)  \
	each(sqlite3_result_text)   \
	each(sqlite3_step)

enum sqlite_table {
	SQLITE_TRACE,
	SQLITE_PROCESSES,
	SQLITE_THREADS,
	SQLITE_TRACKS,
	SQLITE_LIBRARIES,
	SQLITE_FUNCTIONS,
	SQLITE_VALUES,
	SQLITE_REQUESTS,
	SQLITE_LOADS,
	SQLITE_UNLOADS, /* an update of loads */
	SQLITE_EVENTS,
	SQLITE_PROBES,
	SQLITE_PROBE_EVENTS,
	SQLITE_PROBE_VALUES,
	SQLITE_COUNTED,
	SQLITE_LOST,
	SQLITE_CHANGES,
	SQLITE_RUNS,
	SQLITE_BACKTRACES,
	SQLITE_FRAMES,
	SQLITE_TABLES
};

struct sqlite_tables {
	struct export *export;
	sqlite3 *db;
	sqlite3_stmt *row[SQLITE_TABLES];
	pthread_t thread; /* the second one */
	bool threaded; /* it is there */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	sqlite3_stmt *step; /* it has to do that; NULL: nothing, and `status` is of the last one */
	bool end; /* it has to end */
	int status;
	SQLITE_FUNCTIONS(LATE_MEMBER)
};

/* Makes the tables in the file, which is empty. */
void sqlite_open(struct sqlite_tables *tables, struct export *export, const char *path);

/*
 * A row: for each letter of `types` a value: i, an int64_t; k, a uint64_t, XAUDIT_READ_UNKNOWN is NULL; z, one of which
 * 0 is NULL; s, a text for people: bytes that are no UTF-8 become U+FFFD; b, a text and its size, which is a blob if it
 * is no UTF-8; x, bytes and their size; d, a double; 0, NULL without a value.
 */
void sqlite_row(struct sqlite_tables *tables, enum sqlite_table table, const char *types, ...);

/* Does statements without results. */
void sqlite_do(struct sqlite_tables *tables, const char *statements);

/* Tells of an error, if a status of SQLite is one; true, too, if anything has failed before. */
bool sqlite_failed(struct sqlite_tables *tables, int status);

/*
 * Does a statement without results, which the caller has prepared, perhaps while the caller goes on: what it uses must
 * stay as it is until sqlite_wait() returns.
 */
void sqlite_step(struct sqlite_tables *tables, sqlite3_stmt *statement);
void sqlite_wait(struct sqlite_tables *tables);

/* Makes indexes and views if nothing has failed, and closes the file. */
void sqlite_close(struct sqlite_tables *tables);

#endif
