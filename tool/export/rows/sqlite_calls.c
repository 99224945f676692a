/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/sqlite_calls.h"

#include <stdlib.h>

#include "tool/base/memory.h"

#define ROWS 65536
#define DIGIT 11 /* bits */

/* ---- the order ---- */

/* By digits of their numbers, the last one first: the numbers are near each other, so these are few. */
static void put_in_order(struct sqlite_calls *calls)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < calls->going_count; i++) {
		calls->order[i] = i;
		low = calls->going[i].id < low ? calls->going[i].id : low;
		high = calls->going[i].id > high ? calls->going[i].id : high;
	}
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT) {
		uint32_t place[(1 << DIGIT) + 1] = { 0 }, *order = calls->order;

#define DIGIT_OF(i) ((calls->going[i].id - low) >> shift & ((1 << DIGIT) - 1))
		for (uint32_t i = 0; i < calls->going_count; i++)
			place[DIGIT_OF(i) + 1]++;
		for (uint32_t i = 1; i <= 1 << DIGIT; i++)
			place[i] += place[i - 1];
		for (uint32_t i = 0; i < calls->going_count; i++)
			calls->spare[place[DIGIT_OF(order[i])]++] = order[i];
#undef DIGIT_OF
		calls->order = calls->spare;
		calls->spare = order;
	}
}

/* ---- the virtual table: in the second thread ---- */

/* SQLite makes one of each for the statement, and knows them by their first members. */
struct table {
	sqlite3_vtab base;
	struct sqlite_calls *calls;
};

struct cursor {
	sqlite3_vtab_cursor base;
	uint32_t at;
};

static struct sqlite_calls *calls_of(const sqlite3_vtab_cursor *cursor)
{
	return ((const struct table *)cursor->pVtab)->calls;
}

static int connect(sqlite3 *db, void *context, int words, const char *const *word, sqlite3_vtab **to, char **error)
{
	struct sqlite_calls *calls = context;
	struct table *table = memory_zeroed(1, sizeof(*table));

	(void)words;
	(void)word;
	(void)error;
	table->calls = calls;
	*to = &table->base;
	return calls->tables->sqlite3_declare_vtab(db, "CREATE TABLE waiting (id, parent, function, thread, track,"
		" depth, start, duration, self, total, cpu, how, request)");
}

static int disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* There is one way to read it: all. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = ROWS;
	return SQLITE_OK;
}

static int open(sqlite3_vtab *table, sqlite3_vtab_cursor **to)
{
	struct cursor *cursor = memory_zeroed(1, sizeof(*cursor));

	(void)table;
	*to = &cursor->base;
	return SQLITE_OK;
}

static int close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int count, sqlite3_value **value)
{
	(void)index;
	(void)name;
	(void)count;
	(void)value;
	put_in_order(calls_of(cursor));
	((struct cursor *)cursor)->at = 0;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	return ((const struct cursor *)cursor)->at >= calls_of(cursor)->going_count;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *to)
{
	*to = ((const struct cursor *)cursor)->at;
	return SQLITE_OK;
}

/* What is not set is NULL. */
static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int number)
{
	const struct sqlite_calls *calls = calls_of(cursor);
	const struct sqlite_call *is = &calls->going[calls->order[((const struct cursor *)cursor)->at]];
	uint64_t value;

	switch (number) {
	case 0:
		value = is->id;
		break;
	case 1:
		value = is->parent ? is->parent : XAUDIT_READ_UNKNOWN;
		break;
	case 2:
		value = is->function;
		break;
	case 3:
		value = is->thread;
		break;
	case 4:
		value = is->track;
		break;
	case 5:
		value = is->depth;
		break;
	case 6:
		value = is->start;
		break;
	case 7:
		value = is->duration;
		break;
	case 8:
		value = is->self;
		break;
	case 9:
		value = is->total;
		break;
	case 10:
		value = is->cpu;
		break;
	case 11:
		if (is->how)
			calls->tables->sqlite3_result_text(to, is->how, -1, SQLITE_STATIC);
		return SQLITE_OK;
	default:
		value = is->request ? is->request : XAUDIT_READ_UNKNOWN;
	}
	if (value != XAUDIT_READ_UNKNOWN)
		calls->tables->sqlite3_result_int64(to, (int64_t)value);
	return SQLITE_OK;
}

/* Without xCreate, it is there without a statement that makes it. */
static const sqlite3_module waiting = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open,
	.xClose = close,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

/* ---- rows ---- */

void sqlite_calls_begin(struct sqlite_calls *calls, struct sqlite_tables *tables)
{
	*calls = (struct sqlite_calls){ .tables = tables, .call = memory_zeroed(ROWS, sizeof(*calls->call)),
		.going = memory_zeroed(ROWS, sizeof(*calls->going)),
		.order = memory_zeroed(ROWS, sizeof(*calls->order)),
		.spare = memory_zeroed(ROWS, sizeof(*calls->spare)) };
	if (!sqlite_failed(tables, tables->sqlite3_create_module(tables->db, "waiting", &waiting, calls)))
		sqlite_failed(tables, tables->sqlite3_prepare_v3(tables->db,
			"INSERT INTO calls SELECT * FROM waiting", -1, SQLITE_PREPARE_PERSISTENT, &calls->insert,
			NULL));
}

void sqlite_calls_end(struct sqlite_calls *calls)
{
	struct sqlite_call *call = calls->call;

	if (!calls->count)
		return;
	sqlite_wait(calls->tables);
	calls->call = calls->going;
	calls->going = call;
	calls->going_count = calls->count;
	calls->count = 0;
	sqlite_step(calls->tables, calls->insert);
}

struct sqlite_call *sqlite_calls_next(struct sqlite_calls *calls)
{
	if (calls->count == ROWS)
		sqlite_calls_end(calls);
	return &calls->call[calls->count++];
}

void sqlite_calls_free(struct sqlite_calls *calls)
{
	if (calls->insert) {
		sqlite_wait(calls->tables);
		calls->tables->sqlite3_finalize(calls->insert);
	}
	free(calls->call);
	free(calls->going);
	free(calls->order);
	free(calls->spare);
}
