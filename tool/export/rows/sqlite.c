/* SPDX-License-Identifier: MIT */
/*
 * The format sqlite of `xaudit export`: a database of SQLite 3, whose tables, indexes and views sqlite_tables.c has;
 * xaudit-export(1) documents them. It is made without a journal, in the file that gets its name when it is whole
 * (tool/base/out_file.h). One thread calls this, and has another one (sqlite_tables.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/format.h"
#include "tool/export/rows/sqlite_calls.h"
#include "tool/export/rows/sqlite_facts.h"
#include "tool/export/rows/sqlite_tables.h"
#include "tool/export/tracks.h"
#include "tool/show/event_text.h"
#include "tool/show/show.h"

struct sqlite {
	struct sqlite_tables tables;
	struct sqlite_facts facts;
	struct sqlite_calls calls;
	char **request; /* their names, by number */
	uint32_t requests;
	struct hash by_request;
};

static void begin(struct export *export)
{
	struct sqlite *sqlite = export->state = memory_zeroed(1, sizeof(*sqlite));

	sqlite->tables.export = export;
	if (!export->out.made) {
		tool_error("export", "--format=sqlite goes into a regular file, which %s is not", export->out.path);
		export->failed = true;
		return;
	}
	sqlite_open(&sqlite->tables, export, export->out.made);
	if (export->failed)
		return;
	sqlite_calls_begin(&sqlite->calls, &sqlite->tables);
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

static void leave(struct export *export, const struct export_call *is)
{
	const struct xaudit_read_call *call = is->call;
	struct sqlite *sqlite = export->state;

	*sqlite_calls_next(&sqlite->calls) = (struct sqlite_call){
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

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct sqlite *sqlite = export->state;

	sqlite_probe(&sqlite->facts, track, item, export_around(item));
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

	sqlite_calls_end(&sqlite->calls);
	if (sqlite->requests)
		sqlite_do(&sqlite->tables, "CREATE INDEX calls_request ON calls (request) WHERE request IS NOT NULL");
	sqlite_facts_end(&sqlite->facts);
}

static void free_state(struct export *export)
{
	struct sqlite *sqlite = export->state;

	sqlite_calls_free(&sqlite->calls);
	sqlite_close(&sqlite->tables);
	sqlite_facts_free(&sqlite->facts);
	for (uint32_t i = 0; i < sqlite->requests; i++)
		free(sqlite->request[i]);
	free(sqlite->request);
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
	.probe = probe,
	.load = load,
	.change = change,
	.run = run,
	.lost = lost,
	.counted = counted,
	.end = end,
	.free_state = free_state,
};
