/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/export/folders/uftrace_files.h"
#include "tool/show/event_text.h"
#include "tool/show/probe_text.h"

enum { ENTRY, EXIT, LOST, EVENT };

#define MORE	    (1u << 2) /* values follow */
#define MAGIC	    (5u << 3)
#define DEPTH_BITS  10
#define DEPTH_MOST  ((1u << DEPTH_BITS) - 1)
#define EVENT_FIRST 1000000u
#define EVENTS_MOST 65536u /* with texts; then their types alone */
#define EVENT_NAME  200	   /* bytes of a name */

#define SECOND 1000000000u

static void stamp(FILE *file, const char *what, uint64_t time)
{
	fprintf(file, "%s timestamp=%" PRIu64 ".%09" PRIu64 " ", what, time / SECOND, time % SECOND);
}

/* ---- sessions ---- */

static uint32_t process_of_pid(struct export *export, uint32_t pid, uint32_t before)
{
	while (before--)
		if (xaudit_read_process_info(xaudit_read_process(export->trace, before))->pid == pid)
			return before;
	return UINT32_MAX;
}

/* A program that was executed begins a session; what a process forks is in its own. */
static void begin_processes(struct export *export, struct uftrace *uftrace)
{
	uftrace->processes = export->info->processes;
	uftrace->session = memory_zeroed(uftrace->processes + 1, sizeof(*uftrace->session));
	for (uint32_t i = 0; i < uftrace->processes; i++) {
		struct xaudit_read_process *process = xaudit_read_process(export->trace, i);
		const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
		bool forked = xaudit_read_process_head(process)->forked;
		uint32_t parent = forked ? process_of_pid(export, info->parent, i) : UINT32_MAX;
		uint32_t pid = tids_pid(&uftrace->tids, process);
		char *exe = uftrace_word(info->exe ? info->exe : "unknown");

		uftrace->session[i] = parent == UINT32_MAX ? i : uftrace->session[parent];
		/* Nothing of a process may be as early as its session. */
		uint64_t time = info->start ? info->start - 1 : 0;
		if (parent == UINT32_MAX) {
			stamp(uftrace->lines, "SESS", time);
			fprintf(uftrace->lines, "pid=%" PRIu32 " sid=%016" PRIx32 " exename=\"%s\"\n", pid, i, exe);
			stamp(uftrace->lines, "TASK", time);
			fprintf(uftrace->lines, "tid=%" PRIu32 " pid=%" PRIu32 "\n", pid, pid);
		} else {
			stamp(uftrace->lines, "FORK", time);
			fprintf(uftrace->lines, "pid=%" PRIu32 " ppid=%" PRIu32 "\n", pid,
				tids_pid(&uftrace->tids, xaudit_read_process(export->trace, parent)));
		}
		free(exe);
	}
}

static uint32_t session_of(struct export *export, const struct xaudit_read_process *process)
{
	struct uftrace *uftrace = export->state;

	for (uint32_t i = 0; i < uftrace->processes; i++)
		if (xaudit_read_process(export->trace, i) == process)
			return uftrace->session[i];
	return 0;
}

static void begin(struct export *export)
{
	struct uftrace *uftrace = memory_zeroed(1, sizeof(*uftrace));

	export->state = uftrace;
	uftrace->files.export = export;
	uftrace->first = UINT64_MAX;
	tids_begin(&uftrace->tids, export->trace);
	uftrace->lines = export_file(export, "task.txt");
	uftrace->comments = uftrace->lines ? export_file(export, "extern.dat") : NULL;
	if (uftrace->comments)
		begin_processes(export, uftrace);
}

/* ---- loads ---- */

static void load(struct export *export, const struct xaudit_read_event *event)
{
	struct uftrace *uftrace = export->state;
	bool loads = event->what == XAUDIT_READ_EVENT_LOAD;
	uint32_t object = places_object(&uftrace->places, event->object);
	const char *path = uftrace_path(uftrace, object);

	/* What a child has from its parent is in their session already. */
	if (event->inherited)
		return;
	if (loads) {
		stamp(uftrace->lines, "DLOP", event->time);
		fprintf(uftrace->lines, "tid=%" PRIu32 " sid=%016" PRIx32 " base=%" PRIx64 " libname=\"%s\"\n",
			event->tid, session_of(export, event->process), uftrace->places.object[object].base, path);
	}
	fprintf(uftrace->comments, "%" PRIu64 ".%09" PRIu64 " %s %s\n", event->time / SECOND, event->time % SECOND,
		loads ? "loads" : "unloads", path);
}

/* ---- tracks ---- */

static struct uftrace_task *begin_task(struct export *export, struct export_track *track, uint64_t time)
{
	struct uftrace *uftrace = export->state;
	uint32_t tid = tids_track(&uftrace->tids, track);
	uint32_t hash = hash_key(tid, 0);
	uint32_t number = HASH_FIND(i, &uftrace->by_tid, hash, uftrace->task[i]->tid == tid);

	stamp(uftrace->lines, "TASK", time);
	fprintf(uftrace->lines, "tid=%" PRIu32 " pid=%" PRIu32 "\n", tid, tids_pid(&uftrace->tids, track->process));
	if (number == HASH_NONE) {
		struct uftrace_task *task = memory_zeroed(1, sizeof(*task));

		task->tid = tid;
		task->file.name = memory_format("%" PRIu32 ".dat", tid);
		number = uftrace->tasks++;
		uftrace->task = memory_grow(uftrace->task, number, sizeof(struct uftrace_task *));
		uftrace->task[number] = task;
		memory_hash(&uftrace->by_tid, hash, number);
	}
	track->user = uftrace->task[number];
	return track->user;
}

static void put_record(struct export *export, struct export_track *track, uint64_t time, uint64_t word,
	const uint8_t *values, size_t size)
{
	struct uftrace *uftrace = export->state;
	struct uftrace_task *task = track->user ? track->user : begin_task(export, track, time);
	uint8_t *to = track_files_room(&uftrace->files, &task->file, 16 + size);

	word |= MAGIC | (size ? MORE : 0);
	memcpy(to, &time, 8);
	memcpy(to + 8, &word, 8);
	if (size)
		memcpy(to + 16, values, size);
	uftrace->first = time < uftrace->first ? time : uftrace->first;
	uftrace->last = time > uftrace->last ? time : uftrace->last;
}

static uint64_t depth_bits(uint32_t depth)
{
	return (uint64_t)(depth < DEPTH_MOST ? depth : DEPTH_MOST) << 6;
}

/* ---- calls ---- */

static struct uftrace_spec *spec_of(struct uftrace *uftrace, uint32_t function)
{
	if (function >= uftrace->specs) {
		uint32_t room = function + 1 > uftrace->specs * 2 ? function + 1 : uftrace->specs * 2;

		uftrace->spec = memory_resize(uftrace->spec, room, sizeof(*uftrace->spec));
		memset(&uftrace->spec[uftrace->specs], 0, (room - uftrace->specs) * sizeof(*uftrace->spec));
		uftrace->specs = room;
	}
	return &uftrace->spec[function];
}

static void enter(struct export *export, const struct export_call *is)
{
	struct uftrace *uftrace = export->state;
	const struct xaudit_read_function *function = is->call->function;
	uint64_t address = places_function(&uftrace->places, function)->address;
	uint8_t values[UFTRACE_BYTES];
	size_t size = is->call->entered ? uftrace_arguments(spec_of(uftrace, function->number), is->call, values) : 0;

	uftrace->depth = is->depth > uftrace->depth ? is->depth : uftrace->depth;
	put_record(export, is->track, is->start, ENTRY | depth_bits(is->depth) | address << 16, values, size);
}

static void leave(struct export *export, const struct export_call *is)
{
	struct uftrace *uftrace = export->state;
	const struct xaudit_read_function *function = is->call->function;
	uint64_t address = places_function(&uftrace->places, function)->address;
	uint8_t values[UFTRACE_BYTES];
	size_t size = is->call->ended ? uftrace_result(spec_of(uftrace, function->number), is->call, values) : 0;

	put_record(export, is->track, is->end, EXIT | depth_bits(is->depth) | address << 16, values, size);
}

/* ---- other events ---- */

/* uftrace reads a name up to a blank. Frees the text. */
static char *word_of(char *text)
{
	char *word = uftrace_word(text);
	size_t size;

	free(text);
	/* Between two characters. */
	for (size = strnlen(word, EVENT_NAME); size == EVENT_NAME && (word[size] & 0xc0) == 0x80;)
		size--;
	word[size] = '\0';
	return word;
}

static char *event_name(struct export *export, const struct xaudit_read_item *item, bool with_data)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	event_type(to, item->type, item->type_number);
	if (with_data && item->data_size) {
		putc(':', to);
		if (format) {
			event_format_text(to, format, item->data, item->data_size);
		} else {
			char *value = event_value(item->data, item->data_size);

			event_value_text(to, value);
			free(value);
		}
	}
	if (fclose(to))
		memory_failed();
	return word_of(text);
}

static uint32_t event_number(struct uftrace *uftrace, char *name)
{
	uint32_t hash = hash_text(0, name);
	uint32_t number = HASH_FIND(i, &uftrace->by_event, hash, !strcmp(uftrace->event[i], name));

	if (number != HASH_NONE) {
		free(name);
		return number;
	}
	number = uftrace->events++;
	uftrace->event = memory_grow(uftrace->event, number, sizeof(*uftrace->event));
	uftrace->event[number] = name;
	memory_hash(&uftrace->by_event, hash, number);
	return number;
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct uftrace *uftrace = export->state;
	uint64_t number = event_number(uftrace, event_name(export, item, uftrace->events < EVENTS_MOST));

	put_record(export, track, item->time, EVENT | (EVENT_FIRST + number) << 16, NULL, 0);
}

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct uftrace *uftrace = export->state;
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	fputs("probe:", to);
	probe_text(to, item->probe, uftrace->events < EVENTS_MOST ? item->values : NULL);
	if (fclose(to))
		memory_failed();
	uint64_t number = event_number(uftrace, word_of(text));
	put_record(export, track, item->time, EVENT | (EVENT_FIRST + number) << 16, NULL, 0);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct uftrace *uftrace = export->state;
	uint64_t number;

	/* Of what is not known where there is no record; buffers are no records. */
	if (!track)
		return;
	if (item->what == XAUDIT_READ_LOST) {
		put_record(export, track, item->time, LOST | item->count << 16, NULL, 0);
		return;
	}
	number = event_number(uftrace, memory_format("overwritten"));
	put_record(export, track, item->time, EVENT | (EVENT_FIRST + number) << 16, NULL, 0);
}

/* ---- the end ---- */

static void free_all(struct uftrace *uftrace)
{
	for (uint32_t i = 0; i < uftrace->tasks; i++) {
		free(uftrace->task[i]->file.name);
		free(uftrace->task[i]);
	}
	for (uint32_t i = 0; i < uftrace->events; i++)
		free(uftrace->event[i]);
	for (uint32_t i = 0; i < uftrace->paths; i++) {
		free(uftrace->path[i]);
		free(uftrace->file[i]);
	}
	free(uftrace->task);
	free(uftrace->event);
	free(uftrace->path);
	free(uftrace->file);
	free(uftrace->spec);
	free(uftrace->session);
	hash_free(&uftrace->by_tid);
	hash_free(&uftrace->by_event);
	hash_free(&uftrace->by_file);
	places_free(&uftrace->places);
	tids_free(&uftrace->tids);
	free(uftrace);
}

static void end(struct export *export)
{
	struct uftrace *uftrace = export->state;

	track_files_end(&uftrace->files);
	export_file_end(export, "task.txt", uftrace->lines);
	export_file_end(export, "extern.dat", uftrace->comments);
	if (!export->failed)
		uftrace_end_files(export);
	free_all(uftrace);
}

const struct export_format export_uftrace = {
	.name = "uftrace",
	.help = "a folder for uftrace(1): replay, report, graph, dump, tui",
	.folder = true,
	.begin = begin,
	.load = load,
	.enter = enter,
	.leave = leave,
	.custom = custom,
	.probe = probe,
	.lost = lost,
	.end = end,
};
