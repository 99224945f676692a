/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/chrome_args.h"
#include "tool/export/texts.h"
#include "tool/show/show.h"

/* Numbers that no process or thread has: these are below 2^22. */
#define OTHER_PROCESS 10000000u
#define OTHER_TRACK 10000000u
#define ON_CPU 20000000u

/* A row, whose name is known at the end. */
struct row {
	const struct export_track *track; /* NULL: when a thread was on processors */
	const struct xaudit_read_process *process;
	uint32_t pid, tid; /* in the file */
	uint32_t thread;
	/* The innermost call was entered, and is not written yet: it is a complete event if it ends next. */
	const struct xaudit_read_call *waiting;
	uint32_t depth;
	uint64_t start;
};

struct chrome {
	const char *between; /* before the next event */
	struct texts names;
	uint32_t *pid; /* by number of a process */
	struct hash numbers; /* of processes, by address */
	struct row **row;
	uint32_t rows, lanes;
	struct row *lane; /* of the thread whose runs are told */
};

/* ---- events ---- */

/* Begins an event, up to its time. */
static void put_head(const struct export *export, char phase, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct chrome *chrome = export->state;
	char head[64 + 3 * TEXTS_DIGITS], *at = stpcpy(head, chrome->between);

	at = TEXTS_PUT(at, "{\"ph\":\"");
	*at++ = phase;
	at = TEXTS_PUT(at, "\",\"pid\":");
	at = texts_number(at, pid);
	at = TEXTS_PUT(at, ",\"tid\":");
	at = texts_number(at, tid);
	at = TEXTS_PUT(at, ",\"ts\":");
	at = texts_us(at, export_after(export, time));
	fwrite(head, 1, (size_t)(at - head), export->out.file);
	chrome->between = ",\n";
}

static void put_us(FILE *to, const char *key, uint64_t ns)
{
	char text[16 + TEXTS_DIGITS], *at = stpcpy(text, key);

	at = texts_us(at, ns);
	fwrite(text, 1, (size_t)(at - text), to);
}

/* A piece of data about a row or a process. Readers want a time there, too. */
static void put_meta(struct export *export, uint32_t pid, uint32_t tid, const char *name, const char *key)
{
	put_head(export, 'M', pid, tid, export->info->start);
	fprintf(export->out.file, ",\"name\":\"%s\",\"args\":{\"%s\":", name, key);
}

static void put_name(struct export *export, uint32_t pid, uint32_t tid, const char *what, const char *name)
{
	put_meta(export, pid, tid, what, "name");
	json_string(export->out.file, name);
	fputs("}}", export->out.file);
}

static void put_order(struct export *export, uint32_t pid, uint32_t tid, const char *what, uint64_t order)
{
	put_meta(export, pid, tid, what, "sort_index");
	fprintf(export->out.file, "%" PRIu64 "}}", order);
}

/* An instant of a process, up to its arguments. */
static void put_instant(
	struct export *export, uint32_t pid, uint32_t tid, uint64_t time, const char *scope, const char *name)
{
	put_head(export, 'i', pid, tid, time);
	fprintf(export->out.file, ",\"s\":\"%s\",\"name\":", scope);
	json_string(export->out.file, name);
}

/* ---- processes ---- */

static uint32_t number_of(const struct chrome *chrome, const struct export *export,
	const struct xaudit_read_process *process)
{
	return HASH_FIND(i, &chrome->numbers, hash_key((uintptr_t)process, 0),
		xaudit_read_process(export->trace, i) == process);
}

static uint32_t pid_of(const struct export *export, const struct xaudit_read_process *process)
{
	const struct chrome *chrome = export->state;

	return chrome->pid[number_of(chrome, export, process)];
}

static void put_process(struct export *export, uint32_t number, uint32_t pid)
{
	const struct xaudit_read_process_info *info =
		xaudit_read_process_info(xaudit_read_process(export->trace, number));
	const char *exe = info->exe ? tool_base(info->exe) : info->name;
	char *name = pid == info->pid ? memory_format("%s", exe) : memory_format("%s (%" PRIu32 ")", exe, info->pid);

	put_name(export, pid, pid, "process_name", name);
	free(name);
	put_order(export, pid, pid, "process_sort_index", number);
	if (!info->command)
		return;
	put_meta(export, pid, pid, "process_labels", "labels");
	json_string(export->out.file, info->command);
	fputs("}}", export->out.file);
}

/* ,"name":"foo","cat":"libfoo.so" */
static void write_function(FILE *to, const struct xaudit_read_function *function)
{
	fputs(",\"name\":", to);
	json_string(to, names_shown(function->name));
	fputs(",\"cat\":", to);
	json_string(to, tool_base(function->object->path));
}

static void begin(struct export *export)
{
	struct chrome *chrome = memory_zeroed(1, sizeof(*chrome));
	struct xaudit_read_process *process;
	struct hash pids = { 0 };

	export->state = chrome;
	chrome->between = "";
	chrome->names.write = write_function;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", export->out.file);
	for (uint32_t i = 0; (process = xaudit_read_process(export->trace, i)); i++) {
		uint32_t pid = xaudit_read_process_info(process)->pid, hash = hash_key(pid, 0);

		chrome->pid = memory_grow(chrome->pid, i, sizeof(*chrome->pid));
		chrome->pid[i] = HASH_FIND(n, &pids, hash, chrome->pid[n] == pid) == HASH_NONE ? pid
											     : OTHER_PROCESS + i;
		memory_hash(&pids, hash, i);
		memory_hash(&chrome->numbers, hash_key((uintptr_t)process, 0), i);
		put_process(export, i, chrome->pid[i]);
	}
	hash_free(&pids);
}

/* ---- loads, and other things that happen to a process ---- */

static bool is_in(const struct export *export, uint64_t time)
{
	return time >= export->from && (!export->to || time < export->to);
}

static void load(struct export *export, const struct xaudit_read_event *event)
{
	bool loads = event->what == XAUDIT_READ_EVENT_LOAD;

	/* What a process had from the one that forked it is told there. */
	if (event->inherited || !is_in(export, event->time))
		return;
	char *name = memory_format("%s %s", loads ? "load" : "unload", tool_base(event->object->path));
	put_instant(export, pid_of(export, event->process), event->tid, event->time, "p", name);
	free(name);
	fputs(",\"cat\":\"loads\",\"args\":{\"path\":", export->out.file);
	json_string(export->out.file, event->object->path);
	if (event->address != XAUDIT_READ_UNKNOWN)
		fprintf(export->out.file, ",\"address\":\"0x%" PRIx64 "\"", event->address);
	fputs("}}", export->out.file);
}

static void change(struct export *export, const struct xaudit_read_event *event)
{
	char *text = NULL;
	size_t size;

	if (event->what == XAUDIT_READ_EVENT_CRASH) {
		text = memory_format("ends by signal %d", event->signal);
	} else {
		FILE *to = memory_need(open_memstream(&text, &size));
		show_change(to, event->change);
		if (fclose(to))
			memory_failed();
	}
	put_instant(export, pid_of(export, event->process), event->tid, event->time, "p", text);
	fputs(",\"cat\":\"recording\"}", export->out.file);
	free(text);
}

/* ---- rows ---- */

static struct row *row_new(struct export *export, const struct xaudit_read_process *process, uint32_t thread)
{
	struct chrome *chrome = export->state;
	struct row *row = memory_zeroed(1, sizeof(*row));

	*row = (struct row){ .process = process, .pid = pid_of(export, process), .thread = thread };
	chrome->row = memory_grow(chrome->row, chrome->rows, sizeof(struct row *));
	chrome->row[chrome->rows++] = row;
	return row;
}

static struct row *row_of(struct export *export, struct export_track *track)
{
	if (!track->user) {
		struct row *row = row_new(export, track->process, track->tid);

		row->track = track;
		row->tid = track->stack || track->beside ? OTHER_TRACK + track->number : track->tid;
		track->user = row;
	}
	return track->user;
}

static void run(struct export *export, struct xaudit_read_process *process, uint32_t tid,
	const struct xaudit_read_run *run)
{
	static const char *const name[] = { [XAUDIT_READ_RUN_ON] = "on CPU", [XAUDIT_READ_RUN_PREEMPTED] = "preempted",
		[XAUDIT_READ_RUN_UNKNOWN] = "not known" };
	static const char *const color[] = { [XAUDIT_READ_RUN_ON] = "thread_state_running",
		[XAUDIT_READ_RUN_PREEMPTED] = "thread_state_runnable",
		[XAUDIT_READ_RUN_UNKNOWN] = "thread_state_unknown" };
	struct chrome *chrome = export->state;

	if (run->state == XAUDIT_READ_RUN_WAITS)
		return; /* a gap */
	if (!chrome->lane || chrome->lane->process != process || chrome->lane->thread != tid) {
		chrome->lane = row_new(export, process, tid);
		chrome->lane->tid = ON_CPU + chrome->lanes++;
	}
	put_head(export, 'X', chrome->lane->pid, chrome->lane->tid, run->from);
	put_us(export->out.file, ",\"dur\":", run->to - run->from);
	fprintf(export->out.file, ",\"name\":\"%s\",\"cat\":\"sched\",\"cname\":\"%s\"}", name[run->state],
		color[run->state]);
}

/* ---- calls ---- */

/* The call that waits makes calls, or something else comes before its end. */
static void put_waiting(struct export *export, struct row *row)
{
	struct chrome *chrome = export->state;
	const struct export_call call = { .call = row->waiting, .depth = row->depth };

	if (!row->waiting)
		return;
	put_head(export, 'B', row->pid, row->tid, row->start);
	texts_write(export->out.file, texts_of(&chrome->names, row->waiting->function));
	chrome_args_call(export, &call, true, false);
	putc_unlocked('}', export->out.file);
	row->waiting = NULL;
}

static void enter(struct export *export, const struct export_call *call)
{
	struct row *row = row_of(export, call->track);

	put_waiting(export, row);
	row->waiting = call->call;
	row->depth = call->depth;
	row->start = call->start;
}

static void leave(struct export *export, const struct export_call *call)
{
	struct chrome *chrome = export->state;
	struct row *row = row_of(export, call->track);
	bool whole = row->waiting;

	put_head(export, whole ? 'X' : 'E', row->pid, row->tid, whole ? call->start : call->end);
	if (whole)
		put_us(export->out.file, ",\"dur\":", call->end - call->start);
	if (whole && call->known && call->call->cpu != XAUDIT_READ_UNKNOWN)
		put_us(export->out.file, ",\"tdur\":", call->call->cpu);
	texts_write(export->out.file, texts_of(&chrome->names, call->call->function));
	chrome_args_call(export, call, whole, true);
	putc_unlocked('}', export->out.file);
	row->waiting = NULL;
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct row *row = row_of(export, track);
	char *name = NULL;

	put_waiting(export, row);
	/* A mark is its text. */
	if (item->type && !strcmp(item->type, "mark"))
		name = memory_text(item->data ? item->data : "", item->data_size);
	else if (item->type)
		name = memory_format("%s", item->type);
	else
		name = memory_format("type %" PRIu32, item->type_number);
	put_instant(export, row->pid, row->tid, item->time, "t", name);
	free(name);
	fputs(",\"cat\":\"custom\"", export->out.file);
	chrome_args_custom(export, item);
	putc('}', export->out.file);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct row *row = track ? row_of(export, track) : NULL;
	uint32_t pid = row ? row->pid : pid_of(export, item->process);
	bool gone = item->what == XAUDIT_READ_GONE;
	char *name = !gone	 ? memory_format("%" PRIu64 " events were lost", item->count)
		     : item->count ? memory_format("%" PRIu64 " buffers were overwritten", item->count)
				   : memory_format("buffers were overwritten");

	if (row)
		put_waiting(export, row);
	put_instant(export, pid, row ? row->tid : pid, item->time, row ? "t" : "p", name);
	fputs(",\"cat\":\"recording\"}", export->out.file);
	free(name);
}

static void counted(struct export *export, const struct xaudit_read_item *item)
{
	const struct xaudit_read_process_info *info = xaudit_read_process_info(item->process);
	uint32_t pid = pid_of(export, item->process);
	char *name = memory_format("only counted: %s", names_shown(item->function->name));

	put_instant(export, pid, pid, info->end, "p", name);
	fprintf(export->out.file, ",\"cat\":\"counted\",\"args\":{\"calls\":%" PRIu64 ",\"library\":", item->count);
	json_string(export->out.file, item->function->object->path);
	fputs("}}", export->out.file);
	free(name);
}

/* ---- the end ---- */

/* The newest name of a thread: it may have got one behind its first call. */
static const char *newest_name(const struct export *export, const struct hash *threads, const struct row *row)
{
	uint32_t number = HASH_FIND(i, threads, hash_key((uintptr_t)row->process, row->thread),
		xaudit_read_thread(export->trace, i)->process == row->process &&
			xaudit_read_thread(export->trace, i)->tid == row->thread);

	return number == HASH_NONE ? "" : xaudit_read_thread(export->trace, number)->name;
}

static void put_row(struct export *export, const struct row *row, const char *newest)
{
	struct export_track track = { .tid = row->thread };
	char *name;

	if (row->track)
		track = *row->track;
	track.name = (char *)(*newest || !row->track ? newest : track.name);
	name = row->track || *newest ? export_track_name(&track) : memory_format("thread %" PRIu32, row->thread);
	if (!row->track) {
		char *lane = memory_format("%s, on CPU", name);

		free(name);
		name = lane;
	}
	put_name(export, row->pid, row->tid, "thread_name", name);
	free(name);
	/* Below those of its thread. */
	put_order(export, row->pid, row->tid, "thread_sort_index",
		4ull * row->thread + (!row->track ? 1 : track.stack || track.beside ? 2 : 0));
}

static void end(struct export *export)
{
	struct chrome *chrome = export->state;
	const struct xaudit_read_trace_info *info = export->info;
	struct hash threads = { 0 };

	for (uint32_t i = 0; i < xaudit_read_threads(export->trace); i++) {
		const struct xaudit_read_thread *thread = xaudit_read_thread(export->trace, i);
		memory_hash(&threads, hash_key((uintptr_t)thread->process, thread->tid), i);
	}
	for (uint32_t i = 0; i < chrome->rows; i++) {
		put_row(export, chrome->row[i], newest_name(export, &threads, chrome->row[i]));
		free(chrome->row[i]);
	}
	fputs("\n],\"otherData\":{\"producer\":\"xaudit\"", export->out.file);
	if (info->command) {
		fputs(",\"command\":", export->out.file);
		json_string(export->out.file, info->command);
	}
	if (info->start_real)
		fprintf(export->out.file, ",\"start_unix_ns\":\"%" PRIu64 "\"", info->start_real);
	fprintf(export->out.file, ",\"lost_events\":%" PRIu64 "}}\n", xaudit_read_calls_sums(export->calls)->lost);
	hash_free(&threads);
	hash_free(&chrome->numbers);
	texts_free(&chrome->names);
	free(chrome->row);
	free(chrome->pid);
	free(chrome);
}

const struct export_format export_chrome = {
	.name = "chrome",
	.help = "JSON for Perfetto, chrome://tracing and speedscope",
	.text = true,
	.begin = begin,
	.load = load,
	.change = change,
	.run = run,
	.enter = enter,
	.leave = leave,
	.custom = custom,
	.lost = lost,
	.counted = counted,
	.end = end,
};
