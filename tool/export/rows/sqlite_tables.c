/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/sqlite_tables.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/late.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"

/*
 * Nobody else has the file, and if anything fails it is removed: so there is no journal, and nothing is waited for.
 * Indexes are sorted in temporary files, so that memory does not grow with the number of calls: in parts as large as
 * the cache, of which 16 are merged at once, so it is large enough for 50 million calls.
 */
static const char pragmas[] =
	"PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -114688; PRAGMA temp_store = FILE;"
	/* The first letters of "xaudit", for file(1). */
	"PRAGMA application_id = 0x78617564; PRAGMA user_version = 1; BEGIN;";

static const char schema[] =
	"CREATE TABLE trace (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE processes (id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER, host TEXT, program TEXT,"
	" command TEXT, start INTEGER, \"end\" INTEGER, lost INTEGER);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, tid INTEGER, name TEXT);"
	"CREATE TABLE tracks (id INTEGER PRIMARY KEY, thread INTEGER REFERENCES threads, stack INTEGER, name TEXT);"
	"CREATE TABLE libraries (id INTEGER PRIMARY KEY, path TEXT, soname TEXT, build_id TEXT);"
	"CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, symbol, library INTEGER REFERENCES libraries,"
	" \"offset\" INTEGER);"
	"CREATE TABLE calls (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES calls, function INTEGER REFERENCES"
	" functions, thread INTEGER REFERENCES threads, track INTEGER REFERENCES tracks, depth INTEGER, start INTEGER,"
	" duration INTEGER, self INTEGER, total INTEGER, cpu INTEGER, how TEXT, request INTEGER REFERENCES requests);"
	"CREATE TABLE call_values (call INTEGER REFERENCES calls, moment TEXT, role TEXT, place INTEGER, name TEXT,"
	" value, state TEXT, shown TEXT);"
	"CREATE TABLE requests (id INTEGER PRIMARY KEY, name TEXT);"
	"CREATE TABLE loads (process INTEGER REFERENCES processes, number INTEGER, library INTEGER REFERENCES"
	" libraries, tid INTEGER, loaded INTEGER, unloaded INTEGER, address INTEGER, inherited INTEGER,"
	" PRIMARY KEY (process, number)) WITHOUT ROWID;"
	"CREATE TABLE events (id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, thread INTEGER REFERENCES"
	" threads, track INTEGER REFERENCES tracks, call INTEGER REFERENCES calls, time INTEGER, type TEXT,"
	" type_number INTEGER, data BLOB, text TEXT, fields TEXT);"
	"CREATE TABLE probes (id INTEGER PRIMARY KEY, name TEXT, library INTEGER REFERENCES libraries,"
	" \"offset\" INTEGER, function TEXT, start INTEGER);"
	"CREATE TABLE probe_events (id INTEGER PRIMARY KEY, probe INTEGER REFERENCES probes, process INTEGER"
	" REFERENCES processes, thread INTEGER REFERENCES threads, track INTEGER REFERENCES tracks, call INTEGER"
	" REFERENCES calls, time INTEGER);"
	"CREATE TABLE probe_values (event INTEGER REFERENCES probe_events, role TEXT, place INTEGER, name TEXT, value,"
	" state TEXT, shown TEXT);"
	"CREATE TABLE counted (process INTEGER REFERENCES processes, function INTEGER REFERENCES functions,"
	" calls INTEGER);"
	"CREATE TABLE lost (process INTEGER REFERENCES processes, tid INTEGER, time INTEGER, events INTEGER,"
	" buffers INTEGER);"
	"CREATE TABLE changes (process INTEGER REFERENCES processes, tid INTEGER, time INTEGER, what TEXT, text TEXT,"
	" value INTEGER);"
	"CREATE TABLE runs (thread INTEGER REFERENCES threads, start INTEGER, \"end\" INTEGER, state TEXT);"
	"CREATE TABLE backtraces (id INTEGER, level INTEGER, frame INTEGER REFERENCES frames, PRIMARY KEY (id, level))"
	" WITHOUT ROWID;"
	"CREATE TABLE frames (id INTEGER PRIMARY KEY, library INTEGER REFERENCES libraries, \"offset\" INTEGER,"
	" function TEXT, file TEXT, line INTEGER);";

/*
 * What is known when all rows are there: an index that is made then takes less than one that grows. Numbers and times
 * are nearly in order, and sorted in a moment; where one of them is NULL, SQLite compares them in a way that takes
 * longer, so calls without a parent are left out. An index by function is not: it would take longer than all else, so
 * who has many questions about single functions makes it (xaudit-export(1)).
 */
static const char behind[] =
	"CREATE INDEX calls_parent ON calls (parent) WHERE parent IS NOT NULL;"
	"CREATE INDEX calls_start ON calls (start);"
	"CREATE INDEX values_call ON call_values (call);"
	"CREATE INDEX values_name ON call_values (name, value);"
	"CREATE INDEX events_time ON events (time);"
	"CREATE INDEX probe_events_time ON probe_events (time);"
	"CREATE INDEX probe_values_event ON probe_values (event);"
	"CREATE VIEW profile AS SELECT f.id AS function, f.name, l.path AS library, count(*) AS calls,"
	" sum(c.total) AS total, sum(c.self) AS self, min(c.duration) AS min, max(c.duration) AS max"
	" FROM calls c JOIN functions f ON f.id = c.function JOIN libraries l ON l.id = f.library GROUP BY f.id;"
	"CREATE VIEW named AS SELECT c.id, c.parent, p.pid, t.tid, t.name AS thread_name, c.track, c.depth, c.start,"
	" c.duration, c.self, c.cpu, ifnull(c.how, 'returned') AS how, f.name AS function, l.path AS library,"
	" r.name AS request"
	" FROM calls c JOIN functions f ON f.id = c.function JOIN libraries l ON l.id = f.library"
	" JOIN threads t ON t.id = c.thread JOIN processes p ON p.id = t.process"
	" LEFT JOIN requests r ON r.id = c.request;"
	"CREATE VIEW edges AS SELECT g.name AS caller, f.name AS callee, count(*) AS calls, sum(c.duration) AS time"
	" FROM calls c JOIN functions f ON f.id = c.function JOIN calls d ON d.id = c.parent"
	" JOIN functions g ON g.id = d.function GROUP BY d.function, c.function;"
	"COMMIT; PRAGMA analysis_limit = 1000; ANALYZE;";

static const char *const inserts[SQLITE_TABLES] = {
	[SQLITE_TRACE] = "INSERT INTO trace VALUES (?,?)",
	[SQLITE_PROCESSES] = "INSERT INTO processes VALUES (?,?,?,?,?,?,?,?,?)",
	[SQLITE_THREADS] = "INSERT INTO threads VALUES (?,?,?,?)",
	[SQLITE_TRACKS] = "INSERT INTO tracks VALUES (?,?,?,?)",
	[SQLITE_LIBRARIES] = "INSERT INTO libraries VALUES (?,?,?,?)",
	[SQLITE_FUNCTIONS] = "INSERT INTO functions VALUES (?,?,?,?,?)",
	[SQLITE_VALUES] = "INSERT INTO call_values VALUES (?,?,?,?,?,?,?,?)",
	[SQLITE_REQUESTS] = "INSERT INTO requests VALUES (?,?)",
	/* A damaged trace may have the same one twice. */
	[SQLITE_LOADS] = "INSERT OR IGNORE INTO loads VALUES (?,?,?,?,?,NULL,?,?)",
	[SQLITE_UNLOADS] = ("INSERT INTO loads (process,number,library,unloaded) VALUES (?,?,?,?)"
			    " ON CONFLICT DO UPDATE SET unloaded = excluded.unloaded"),
	[SQLITE_EVENTS] = "INSERT INTO events VALUES (NULL,?,?,?,?,?,?,?,?,?,?)",
	[SQLITE_PROBES] = "INSERT INTO probes VALUES (?,?,?,?,?,?)",
	[SQLITE_PROBE_EVENTS] = "INSERT INTO probe_events VALUES (?,?,?,?,?,?,?)",
	[SQLITE_PROBE_VALUES] = "INSERT INTO probe_values VALUES (?,?,?,?,?,?,?)",
	[SQLITE_COUNTED] = "INSERT INTO counted VALUES (?,?,?)",
	[SQLITE_LOST] = "INSERT INTO lost VALUES (?,?,?,?,?)",
	[SQLITE_CHANGES] = "INSERT INTO changes VALUES (?,?,?,?,?,?)",
	[SQLITE_RUNS] = "INSERT INTO runs VALUES (?,?,?,?)",
	[SQLITE_BACKTRACES] = "INSERT INTO backtraces VALUES (?,?,?)",
	[SQLITE_FRAMES] = "INSERT INTO frames VALUES (?,?,?,?,?,?)",
};

#define IN_TABLES(name) LATE_IN(struct sqlite_tables, name)

static const struct late_library libsqlite3 = {
	.file = (const char *const[]){ "libsqlite3.so.0", NULL },
	.wanted_by = "--format=sqlite",
	.name = "libsqlite3",
	.package = "libsqlite3-0",
	.function = (const struct late_function[]){ SQLITE_FUNCTIONS(IN_TABLES) { 0 } },
};

bool sqlite_failed(struct sqlite_tables *tables, int status)
{
	if (status == SQLITE_OK || status == SQLITE_DONE)
		return tables->export->failed;
	if (!tables->export->failed)
		tool_error("export", "%s can't be written: %s", tables->export->out.path,
			tables->db ? tables->sqlite3_errmsg(tables->db) : tables->sqlite3_errstr(status));
	tables->export->failed = true;
	return true;
}

static void do_step(struct sqlite_tables *tables, sqlite3_stmt *statement)
{
	sqlite_failed(tables, tables->sqlite3_step(statement));
	tables->sqlite3_reset(statement);
}

/* ---- the second thread ---- */

static void *do_steps(void *argument)
{
	struct sqlite_tables *tables = argument;

	pthread_mutex_lock(&tables->lock);
	for (;;) {
		while (!tables->step && !tables->end)
			pthread_cond_wait(&tables->changed, &tables->lock);
		if (!tables->step)
			break;
		pthread_mutex_unlock(&tables->lock);
		int status = tables->sqlite3_step(tables->step);
		tables->sqlite3_reset(tables->step);
		pthread_mutex_lock(&tables->lock);
		tables->step = NULL;
		tables->status = status;
		pthread_cond_signal(&tables->changed);
	}
	pthread_mutex_unlock(&tables->lock);
	return NULL;
}

/* Where there can be no second thread, the first one does all. */
static void begin_thread(struct sqlite_tables *tables)
{
	pthread_mutex_init(&tables->lock, NULL);
	pthread_cond_init(&tables->changed, NULL);
	tables->threaded = !pthread_create(&tables->thread, NULL, do_steps, tables);
}

void sqlite_wait(struct sqlite_tables *tables)
{
	if (!tables->threaded)
		return;
	pthread_mutex_lock(&tables->lock);
	while (tables->step)
		pthread_cond_wait(&tables->changed, &tables->lock);
	int status = tables->status;
	tables->status = SQLITE_OK;
	pthread_mutex_unlock(&tables->lock);
	sqlite_failed(tables, status);
}

static void end_thread(struct sqlite_tables *tables)
{
	if (!tables->threaded)
		return;
	sqlite_wait(tables);
	pthread_mutex_lock(&tables->lock);
	tables->end = true;
	pthread_cond_signal(&tables->changed);
	pthread_mutex_unlock(&tables->lock);
	pthread_join(tables->thread, NULL);
	tables->threaded = false;
}

void sqlite_step(struct sqlite_tables *tables, sqlite3_stmt *statement)
{
	sqlite_wait(tables);
	if (tables->export->failed)
		return;
	if (!tables->threaded) {
		do_step(tables, statement);
		return;
	}
	pthread_mutex_lock(&tables->lock);
	tables->step = statement;
	pthread_cond_signal(&tables->changed);
	pthread_mutex_unlock(&tables->lock);
}

/* ---- tables ---- */

void sqlite_open(struct sqlite_tables *tables, struct export *export, const char *path)
{
	*tables = (struct sqlite_tables){ .export = export };
	if (!late_open(&libsqlite3, "export", tables)) {
		export->failed = true;
		return;
	}
	if (sqlite_failed(tables, tables->sqlite3_open_v2(
				   path, &tables->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) ||
		sqlite_failed(tables, tables->sqlite3_exec(tables->db, pragmas, NULL, NULL, NULL)) ||
		sqlite_failed(tables, tables->sqlite3_exec(tables->db, schema, NULL, NULL, NULL)))
		return;
	for (int i = 0; i < SQLITE_TABLES; i++)
		if (sqlite_failed(tables, tables->sqlite3_prepare_v3(tables->db, inserts[i], -1,
						  SQLITE_PREPARE_PERSISTENT, &tables->row[i], NULL)))
			return;
	begin_thread(tables);
}

/* ---- texts ---- */

/* text_utf8() needs a zero behind the text, and takes one in it for a character. */
static bool is_utf8(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + size;

	while (at < end) {
		size_t length = text_utf8(at);

		if (!length || length > (size_t)(end - at))
			return false;
		at += length;
	}
	return true;
}

static int bind_shown(const struct sqlite_tables *tables, sqlite3_stmt *row, int column, const char *text)
{
	size_t size = text ? strlen(text) : 0;
	char *clean, *to;

	if (!text || is_utf8(text, size))
		return tables->sqlite3_bind_text(row, column, text, (int)size, SQLITE_TRANSIENT);
	to = clean = memory_zeroed(size * 3 + 1, 1);
	while (*text) {
		size_t length = text_utf8((const unsigned char *)text);

		memcpy(to, length ? text : "\xef\xbf\xbd", length ? length : 3);
		to += length ? length : 3;
		text += length ? length : 1;
	}
	return tables->sqlite3_bind_text(row, column, clean, (int)(to - clean), free);
}

static int bind_bytes(
	const struct sqlite_tables *tables, sqlite3_stmt *row, int column, const char *text, size_t size)
{
	char *copy = memory_zeroed(size + 1, 1);

	memcpy(copy, text, size);
	return is_utf8(copy, size) ? tables->sqlite3_bind_text(row, column, copy, (int)size, free)
				   : tables->sqlite3_bind_blob(row, column, copy, (int)size, free);
}

/* ---- rows ---- */

static int bind(
	const struct sqlite_tables *tables, sqlite3_stmt *row, int column, char type, va_list *values)
{
	const char *text;
	uint64_t number;

	switch (type) {
	case 'i':
		return tables->sqlite3_bind_int64(row, column, va_arg(*values, int64_t));
	case 'k':
	case 'z':
		number = va_arg(*values, uint64_t);
		if (number == (type == 'k' ? XAUDIT_READ_UNKNOWN : 0))
			return tables->sqlite3_bind_null(row, column);
		return tables->sqlite3_bind_int64(row, column, (int64_t)number);
	case 's':
		return bind_shown(tables, row, column, va_arg(*values, const char *));
	case 'b':
		text = va_arg(*values, const char *);
		return bind_bytes(tables, row, column, text, va_arg(*values, size_t));
	case 'x':
		text = va_arg(*values, const char *);
		return tables->sqlite3_bind_blob64(
			row, column, text ? text : "", va_arg(*values, size_t), SQLITE_TRANSIENT);
	case 'd':
		return tables->sqlite3_bind_double(row, column, va_arg(*values, double));
	default:
		return tables->sqlite3_bind_null(row, column);
	}
}

void sqlite_row(struct sqlite_tables *tables, enum sqlite_table table, const char *types, ...)
{
	sqlite3_stmt *row = tables->row[table];
	int status = SQLITE_OK;
	va_list values;

	sqlite_wait(tables);
	if (tables->export->failed)
		return;
	va_start(values, types);
	for (int column = 1; status == SQLITE_OK && types[column - 1]; column++)
		status = bind(tables, row, column, types[column - 1], &values);
	va_end(values);
	if (!sqlite_failed(tables, status))
		do_step(tables, row);
}

void sqlite_do(struct sqlite_tables *tables, const char *statements)
{
	sqlite_wait(tables);
	if (!tables->export->failed)
		sqlite_failed(tables, tables->sqlite3_exec(tables->db, statements, NULL, NULL, NULL));
}

void sqlite_close(struct sqlite_tables *tables)
{
	if (!tables->db)
		return;
	end_thread(tables);
	for (int i = 0; i < SQLITE_TABLES; i++)
		tables->sqlite3_finalize(tables->row[i]);
	sqlite_do(tables, behind);
	sqlite_failed(tables, tables->sqlite3_close(tables->db));
}
