/* SPDX-License-Identifier: MIT */
/*
 * The format sqlite of `xaudit export`: a database of SQLite 3, whose tables, indexes and views sqlite_tables.c has;
 * xaudit-export(1) documents them. It is made without a journal, in the file that gets its name when it is whole
 * (tool/base/out_file.h). One thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/format.h"
#include "tool/export/rows/sqlite_facts.h"
#include "tool/export/rows/sqlite_tables.h"
#include "tool/export/tracks.h"
#include "tool/show/event_text.h"
#include "tool/show/show.h"

#define ROWS 65536

/* A call, as the columns of its table have it. */
struct row {
	uint64_t id, parent, start, duration, self, total, cpu;
	uint32_t function, thread, track, depth;
	const char *how; /* NULL: it returned */
	uint32_t request;
};

struct sqlite {
	struct sqlite_tables tables;
	struct sqlite_facts facts;
	char **request; /* their names, by number */
	uint32_t requests;
	struct hash by_request;
	struct row *row; /* that wait */
	uint32_t rows;
};

static void begin(struct export *export)
{
	struct sqlite *sqlite = export->state = memory_zeroed(1, sizeof(*sqlite));

	sqlite->tables.export = export;
	sqlite->row = memory_zeroed(ROWS, sizeof(*sqlite->row));
	if (!export->out.made) {
		tool_error("export", "--format=sqlite goes into a regular file, which %s is not", export->out.path);
		export->failed = true;
		return;
	}
	sqlite_open(&sqlite->tables, export, export->out.made);
	sqlite_facts_begin(&sqlite->facts, &sqlite->tables);
}

/* ---- calls ---- */

static uint32_t request_of(struct sqlite *sqlite, const char *name)
{
	uint32_t hash = hash_text(0, name);
	uint32_t number = HASH_FIND(i, &sqlite->by_request, hash, !strcmp(sqlite->request[i], name));

	if (number == HASH_NONE) {
		number = sqlite->requests++;
		sqlite->request = memory_grow(sqlite->request, number, sizeof(*sqlite->request));
		sqlite->request[number] = memory_text(name, strlen(name));
		memory_hash(&sqlite->by_request, hash, number);
		sqlite_row(&sqlite->tables, SQLITE_REQUESTS, "is", (int64_t)number + 1, name);
	}
	return number + 1u;
}

static void put_number(
	const struct sqlite_tables *tables, sqlite3_stmt *row, int column, bool known, uint64_t number)
{
	if (known)
		tables->sqlite3_bind_int64(row, column, (int64_t)number);
	else
		tables->sqlite3_bind_null(row, column);
}

static void put_row(struct sqlite_tables *tables, const struct row *is)
{
	sqlite3_stmt *row = tables->row[SQLITE_CALLS];

	tables->sqlite3_bind_int64(row, 1, (int64_t)is->id);
	put_number(tables, row, 2, is->parent, is->parent);
	tables->sqlite3_bind_int64(row, 3, is->function);
	tables->sqlite3_bind_int64(row, 4, is->thread);
	tables->sqlite3_bind_int64(row, 5, is->track);
	tables->sqlite3_bind_int64(row, 6, is->depth);
	tables->sqlite3_bind_int64(row, 7, (int64_t)is->start);
	put_number(tables, row, 8, is->duration != XAUDIT_READ_UNKNOWN, is->duration);
	tables->sqlite3_bind_int64(row, 9, (int64_t)is->self);
	tables->sqlite3_bind_int64(row, 10, (int64_t)is->total);
	put_number(tables, row, 11, is->cpu != XAUDIT_READ_UNKNOWN, is->cpu);
	if (is->how)
		tables->sqlite3_bind_text(row, 12, is->how, -1, SQLITE_STATIC);
	else
		tables->sqlite3_bind_null(row, 12);
	put_number(tables, row, 13, is->request, is->request);
	sqlite_step(tables, row);
}

static int by_id(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/*
 * Writes the rows that wait, in the order of their numbers: behind the last row of a table SQLite appends, three times
 * as fast as it finds a place in the middle. Calls come when they are over, so few have to go there.
 */
static void put_rows(struct sqlite *sqlite)
{
	qsort(sqlite->row, sqlite->rows, sizeof(*sqlite->row), by_id);
	for (uint32_t i = 0; i < sqlite->rows && !sqlite->tables.export->failed; i++)
		put_row(&sqlite->tables, &sqlite->row[i]);
	sqlite->rows = 0;
}

static void leave(struct export *export, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;
	struct sqlite *sqlite = export->state;

	if (sqlite->rows == ROWS)
		put_rows(sqlite);
	sqlite->row[sqlite->rows++] = (struct row){
		.id = export_id(call),
		.parent = export_parent(call),
		.function = call->function->number + 1u,
		.thread = (uint32_t)sqlite_thread(&sqlite->facts, call->process, call->tid),
		.track = (uint32_t)sqlite_track(&sqlite->facts, is->track),
		.depth = is->depth,
		.start = export_after(export, is->start),
		.duration = is->known ? export_duration(export, call) : XAUDIT_READ_UNKNOWN,
		.self = call->self,
		.total = call->total,
		.cpu = call->cpu,
		.how = call->how == XAUDIT_READ_RETURNED ? NULL : export_how(call),
		.request = call->request ? request_of(sqlite, call->request) : 0,
	};
	if (export->values)
		sqlite_values(&sqlite->facts, call);
}

/* ---- all else ---- */

static char *fields_of(const struct event_format *format, const struct xaudit_read_item *item)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = memory_need(open_memstream(&text, &size));

	putc('{', file);
	event_format_json(file, format, item->data, item->data_size);
	putc('}', file);
	if (fclose(file))
		memory_failed();
	return text;
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	struct sqlite *sqlite = export->state;
	uint64_t process = sqlite_process(&sqlite->facts, item->process);
	uint64_t thread = sqlite_thread(&sqlite->facts, item->process, item->tid);
	char *text = event_is_text(item->data, item->data_size) ? event_value(item->data, item->data_size) : NULL;
	char *fields = format ? fields_of(format, item) : NULL;

	sqlite_row(&sqlite->tables, SQLITE_EVENTS, "iiizisixss", process, thread,
		sqlite_track(&sqlite->facts, track), export_around(item), export_after(export, item->time),
		item->type, (int64_t)item->type_number, item->data, (size_t)item->data_size, text, fields);
	free(text);
	free(fields);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct sqlite *sqlite = export->state;
	bool events = item->what == XAUDIT_READ_LOST;

	(void)track;
	sqlite_row(&sqlite->tables, SQLITE_LOST, events ? "izii0" : "izi0i",
		sqlite_process(&sqlite->facts, item->process), (uint64_t)item->tid, export_after(export, item->time),
		item->count);
}

static void counted(struct export *export, const struct xaudit_read_item *item)
{
	struct sqlite *sqlite = export->state;

	(void)export;
	sqlite_row(&sqlite->tables, SQLITE_COUNTED, "iii", sqlite_process(&sqlite->facts, item->process),
		(int64_t)item->function->number + 1, item->count);
}

static void load(struct export *export, const struct xaudit_read_event *event)
{
	struct sqlite *sqlite = export->state;
	uint64_t process = sqlite_process(&sqlite->facts, event->process);
	uint64_t library = sqlite_library(&sqlite->facts, event->object);
	uint64_t time = export_after(export, event->time);

	if (event->what == XAUDIT_READ_EVENT_UNLOAD)
		sqlite_row(&sqlite->tables, SQLITE_UNLOADS, "iiii", process, (int64_t)event->load, library, time);
	else
		sqlite_row(&sqlite->tables, SQLITE_LOADS, "iiizikz", process, (int64_t)event->load, library,
			(uint64_t)event->tid, time, event->address, (uint64_t)!!event->inherited);
}

static void change(struct export *export, const struct xaudit_read_event *event)
{
	struct sqlite *sqlite = export->state;
	bool crash = event->what == XAUDIT_READ_EVENT_CRASH;

	sqlite_row(&sqlite->tables, SQLITE_CHANGES, "izissi", sqlite_process(&sqlite->facts, event->process),
		(uint64_t)event->tid, export_after(export, event->time), crash ? "crash" : event->change->word,
		crash || !*event->change->text ? NULL : event->change->text,
		crash ? (uint64_t)event->signal : event->change->value);
}

static void run(struct export *export, struct xaudit_read_process *process, uint32_t tid,
	const struct xaudit_read_run *run)
{
	static const char *const states[] = { "?", "on", "waits", "preempted", "unknown" };
	struct sqlite *sqlite = export->state;

	sqlite_row(&sqlite->tables, SQLITE_RUNS, "iiis", sqlite_thread(&sqlite->facts, process, tid),
		export_after(export, run->from), export_after(export, run->to),
		states[run->state > 0 && run->state < 5 ? run->state : 0]);
}

static void end(struct export *export)
{
	struct sqlite *sqlite = export->state;

	put_rows(sqlite);
	sqlite_facts_end(&sqlite->facts);
}

static void free_state(struct export *export)
{
	struct sqlite *sqlite = export->state;

	sqlite_close(&sqlite->tables);
	sqlite_facts_free(&sqlite->facts);
	for (uint32_t i = 0; i < sqlite->requests; i++)
		free(sqlite->request[i]);
	free(sqlite->request);
	free(sqlite->row);
	hash_free(&sqlite->by_request);
	free(sqlite);
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.help = "a database of SQLite 3, for your own questions",
	.file = true,
	.begin = begin,
	.leave = leave,
	.custom = custom,
	.load = load,
	.change = change,
	.run = run,
	.lost = lost,
	.counted = counted,
	.end = end,
	.free_state = free_state,
};
