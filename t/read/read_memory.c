/* SPDX-License-Identifier: MIT */
/*
 * The reader when memory runs out: whichever allocation fails, the reader either reports that there is no memory, or
 * still reads everything; it never takes a part for the whole, and frees what it has allocated. malloc() and its like
 * are those of t/lib/no_memory.h, and serve libc's own allocations, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/no_memory.h"
#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/read/events/counts.h"
#include "tool/read/folder.h"
#include "tool/read/events/merge.h"
#include "tool/read/sched/sched.h"
#include "tool/read/events/stacks.h"
#include "tool/read/sched/sched_cursor.h"
#include "tool/read/shown_names.h"
#include "tool/read/state.h"

/* ---- reading the whole trace ---- */

struct sums {
	uint64_t processes, functions, types, events, custom, loads, changes, deep, ended, counted, text, on;
};

/* State while the events of a record are read. */
struct record {
	struct sums *sums;
	struct read_stacks *stacks;
	struct read_stack_calls *on;
};

static void enter(void *user, struct read_call *call, size_t at)
{
	(void)user;
	(void)call;
	(void)at;
}

/* Counts calls that were too deep to be followed. */
static void deep(void *user, uint32_t id, size_t at)
{
	struct record *record = user;

	(void)id;
	(void)at;
	record->sums->deep++;
}

static void end(void *user, struct read_call *call, enum read_call_end how, uint64_t now)
{
	struct record *record = user;

	(void)call;
	(void)how;
	(void)now;
	record->sums->ended++;
}

static void point(void *user, uint32_t id, uint64_t now, size_t at)
{
	(void)user;
	(void)id;
	(void)now;
	(void)at;
}

static const struct read_calls_hooks hooks = { .enter = enter, .deep = deep, .end = end, .point = point };

/* Returns false where there is no memory. */
static bool take(struct record *record, const struct read_merge_source *source, const struct read_merge_event *event)
{
	struct sums *sums = record->sums;
	char buf[320];

	sums->events++;
	switch (event->type) {
	case READ_MERGE_ENTRY:
	case READ_MERGE_EXIT:
		add_text(&sums->text, read_function_name(
				       source->process, read_merge_function(source, event), buf, sizeof(buf)));
		read_calls_take(&record->on->calls, &hooks, record, (enum trace_type)event->type, event->id,
			event->time);
		return !record->on->calls.no_memory;
	case READ_MERGE_STACK:
		read_stacks_leave(record->stacks, record->on);
		record->on = read_stacks_enter(record->stacks, event->id, record);
		return record->on != NULL;
	case READ_MERGE_PART:
		record->on = read_stacks_part(record->stacks, record->on, event->id, event->count, record);
		return record->on != NULL;
	case READ_MERGE_CUSTOM:
		sums->custom++;
		add_text(&sums->text, read_process_type_now(source->process, event->id));
		add_text(&sums->text, (const char *)event->data);
		return true;
	case READ_MERGE_LOAD:
	case READ_MERGE_UNLOAD:
		sums->loads++;
		add_text(&sums->text, read_object_path(event->object));
		return true;
	case READ_MERGE_CHANGE:
		sums->changes++;
		return true;
	default:
		return true;
	}
}

/* Returns false where there is no memory for stacks; of other errors the folder tells. */
static bool read_events_of_all(struct read_folder *folder, struct sums *sums)
{
	struct read_stacks stacks = { 0 };
	struct record record[32] = { { 0 } };
	struct read_merge merge;
	struct read_merge_source *source;
	struct read_merge_event event;
	bool good = true;

	if (!read_merge_open(&merge, folder, NULL, false))
		return true;
	for (unsigned i = 0; good && i < merge.sources && i < 32; i++) {
		record[i] = (struct record){ sums, &stacks, read_stacks_enter(&stacks, 0, &record[i]) };
		good = record[i].on != NULL;
	}
	read_merge_begin(&merge);
	while (good && (source = read_merge_next(&merge, &event)))
		good = take(&record[source->order], source, &event);
	read_merge_close(&merge);
	read_stacks_close(&stacks);
	return good;
}

static void read_names_of(const struct read_process *process, struct sums *sums)
{
	char buf[320];

	sums->processes++;
	add_text(&sums->text, process->name);
	add_text(&sums->text, process->command);
	add_text(&sums->text, process->exe);
	for (uint32_t i = 0; i < process->notes; i++)
		add_text(&sums->text, process->note[i]);
	for (uint32_t i = 0; i < read_process_functions(process); i++, sums->functions++)
		add_text(&sums->text,
			read_function_name(process, read_process_function_at(process, i), buf, sizeof(buf)));
	for (uint32_t i = 0; i < read_process_objects(process); i++) {
		const struct read_object *object = read_process_object(process, i);
		if (!object)
			continue;
		add_text(&sums->text, object->path);
		add_text(&sums->text, object->soname);
		add_text(&sums->text, object->build_id);
		for (uint32_t k = 0; k < object->sites; k++)
			sums->text = sums->text * 31 + object->site[k].count;
	}
	sums->types += process->types;
	sums->text = sums->text * 31 + (uint64_t)read_process_state(process);
}

static void read_counters_of(struct read_process *process, struct sums *sums)
{
	static struct read_counts counts;

	for (unsigned n = 0; n < process->threads; n++) {
		if (!(process->files[n] & READ_FILE_COUNTS) || !read_counts_open(&counts, process, n))
			continue;
		while (read_counts_next(&counts))
			sums->counted += counts.calls;
		read_counts_close(&counts);
	}
}

/* Times on processors. */
static void read_sched_of(struct read_folder *folder, struct sums *sums)
{
	struct read_sched *sched = read_sched_open(folder);
	uint64_t ns;

	for (unsigned i = 0; sched && i < folder->processes; i++) {
		read_sched_total(sched, folder->process[i], 0, &ns);
		sums->on += ns;
	}
	read_sched_close(sched);
}

/* Reads all of a trace, or of a process of it. */
static enum outcome read_all(const char *path, bool process, struct sums *sums)
{
	struct read_error error;
	struct read_folder *folder =
		process ? read_folder_open_process(path, 0, &error) : read_folder_open(path, 0, &error);
	enum outcome outcome = error.why == READ_NO_MEMORY ? NO_MEMORY : WRONG;

	*sums = (struct sums){ 0 };
	read_error_free(&error);
	if (!folder)
		return outcome;
	bool good = read_events_of_all(folder, sums);
	for (unsigned i = 0; i < folder->processes; i++) {
		read_process_list_files(folder->process[i]);
		read_process_load(folder->process[i]);
		read_names_of(folder->process[i], sums);
		read_counters_of(folder->process[i], sums);
	}
	read_sched_of(folder, sums);
	outcome = !good || folder->damage.no_memory ? NO_MEMORY : folder->damage.first ? WRONG : WHOLE;
	if (outcome == WRONG)
		diag("%s", folder->damage.first);
	read_folder_close(folder);
	return outcome;
}

/* ---- the test ---- */

/* Reading a trace, or a process of it, once more, which must come to the same. */
struct again {
	const char *path;
	bool process;
	struct sums whole;
};

static enum outcome read_again(const void *of)
{
	const struct again *again = of;
	struct sums sums;
	enum outcome outcome = read_all(again->path, again->process, &sums);

	return outcome == WHOLE && memcmp(&sums, &again->whole, sizeof(sums)) ? WRONG : outcome;
}

static void check(const char *path, bool process, const struct sums *expected, const char *what)
{
	struct again again = { .path = path, .process = process };
	const struct sums *whole = &again.whole;

	is_int(read_all(path, process, &again.whole), WHOLE, "%s is read", what);
	is_int((long)whole->processes, (long)expected->processes, "%s: processes", what);
	is_int((long)whole->events, (long)expected->events, "%s: events", what);
	is_int((long)whole->ended, (long)expected->ended, "%s: calls that ended", what);
	is_int((long)whole->custom, (long)expected->custom, "%s: custom events", what);
	is_int((long)whole->counted, (long)expected->counted, "%s: counted calls", what);
	is_int((long)whole->on, (long)expected->on, "%s: time on processors", what);
	check_no_memory(read_again, &again, what);
}

/* Many threads of process 100 that were on a processor for 50 ns, by turns; and stretches that are not known. */
#define THREADS 200

static void make_sched(const char *folder)
{
	const struct sched_head head = {
		.magic = SCHED_MAGIC,
		.version = SCHED_VERSION,
		.head_size = sizeof(head),
		.record_size = sizeof(struct sched_record),
		.holds = SCHED_SWITCHES,
		.clock = TRACE_CLOCK_MONOTONIC,
		.start = 1000,
	};
	char path[96];
	FILE *to;

	snprintf(path, sizeof(path), "%s/" SCHED_NAME, folder);
	to = fopen(path, "w");
	if (!to || fwrite(&head, sizeof(head), 1, to) != 1)
		bail("no file %s", path);
	for (uint32_t i = 0; i < THREADS * 10; i++) {
		const uint64_t time = 2000 + i * 100;
		const uint32_t tid = 100 + i % THREADS;
		const struct sched_record record[] = {
			{ .what = SCHED_IN, .time = time, .pid = 100, .tid = tid },
			{ .what = SCHED_OUT, .time = time + 50, .pid = 100, .tid = tid },
			{ .what = SCHED_LOST, .since = time + 60, .time = time + 61 },
			{ .what = SCHED_KNOWN, .time = time + 70 },
		};
		fwrite(record, sizeof(record), 1, to);
	}
	if (fclose(to))
		bail("no file %s", path);
}

int main(void)
{
	char dir[] = "/tmp/xaudit-read-memory-XXXXXX", path[64];

	if (WITH_ASAN || WITH_TSAN)
		skip_all("sanitizers have an allocator of their own");
	make_folder(dir);
	snprintf(path, sizeof(path), "%s/family", dir);
	make_trace(path, family);
	make_sched(path);
	check(path, false, &(struct sums){ .processes = 3, .events = 12221, .ended = 6103, .custom = 2, .counted = 11,
			.on = THREADS * 10 * 50 },
		"a family");
	snprintf(path, sizeof(path), "%s/family/p102", dir);
	check(path, true, &(struct sums){ .processes = 1, .events = 12, .ended = 3 }, "a process by its name");
	snprintf(path, sizeof(path), "%s/alone", dir);
	make_trace(path, alone);
	check(path, false, &(struct sums){ .processes = 1, .events = 20007, .ended = 10002, .counted = 9 },
		"one process");
	remove_folder(dir);
	return done_testing();
}
