/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/export/time/chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/time/args.h"
#include "tool/export/time/timeline.h"
#include "tool/show/digits.h"
#include "tool/show/function_text.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/names.h"

#define OTHER_TRACK TIMELINE_OTHER
#define ON_CPU 20000000u
#define EXACT (1ull << 53) /* larger integers are not all doubles */

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
	struct function_texts names;
	struct timeline timeline;
	struct row **row;
	uint32_t rows, lanes;
	struct row *lane; /* of the thread whose runs are told */
};

/* ---- events ---- */

#define US_MOST (DIGITS_MOST + 4)

/* Writes ns in us at `at`, with no more decimals than they need: 12.5. Returns where they end. */
static char *us_at(char *at, uint64_t ns)
{
	uint32_t rest = (uint32_t)(ns % 1000);

	at = digits_put(at, ns / 1000);
	if (!rest)
		return at;
	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	if (!(rest %= 100))
		return at;
	*at++ = (char)('0' + rest / 10);
	if (rest %= 10)
		*at++ = (char)('0' + rest);
	return at;
}

/* Begins an event, up to its time. */
static void put_head(const struct export *export, char phase, uint32_t pid, uint32_t tid, uint64_t time)
{
	struct chrome *chrome = export->state;
	char head[64 + 2 * DIGITS_MOST + US_MOST], *at = stpcpy(head, chrome->between);

	at = DIGITS_WORD(at, "{\"ph\":\"");
	*at++ = phase;
	at = DIGITS_WORD(at, "\",\"pid\":");
	at = digits_put(at, pid);
	at = DIGITS_WORD(at, ",\"tid\":");
	at = digits_put(at, tid);
	at = DIGITS_WORD(at, ",\"ts\":");
	at = us_at(at, export_after(export, time));
	fwrite(head, 1, (size_t)(at - head), export->out.file);
	chrome->between = ",\n";
}

static void put_us(FILE *to, const char *key, uint64_t ns)
{
	char text[16 + US_MOST], *at = stpcpy(text, key);

	at = us_at(at, ns);
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

static uint32_t pid_of(const struct export *export, const struct xaudit_read_process *process)
{
	return timeline_pid(&((struct chrome *)export->state)->timeline, export, process);
}

static void put_process(struct export *export, uint32_t number)
{
	struct timeline *timeline = &((struct chrome *)export->state)->timeline;
	const struct xaudit_read_process_info *info =
		xaudit_read_process_info(xaudit_read_process(export->trace, number));
	uint32_t pid = timeline->pid[number];
	char *name = timeline_process_name(timeline, export, number);

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
static void write_function(void *user, FILE *to, const struct xaudit_read_function *function)
{
	(void)user;
	fputs(",\"name\":", to);
	json_string(to, names_full(function->name));
	fputs(",\"cat\":", to);
	json_string(to, tool_base(function->object->path));
}

static void begin(struct export *export)
{
	struct chrome *chrome = memory_zeroed(1, sizeof(*chrome));

	export->state = chrome;
	chrome->between = "";
	chrome->names.write = write_function;
	timeline_begin(&chrome->timeline, export);
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", export->out.file);
	for (uint32_t i = 0; i < chrome->timeline.processes; i++)
		put_process(export, i);
}

/* ---- loads, and other things that happen to a process ---- */

static void load(struct export *export, const struct xaudit_read_event *event)
{
	/* What a process had from the one that forked it is told there. */
	if (event->inherited || !timeline_is_in(export, event->time))
		return;
	char *name = timeline_load_name(event);
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
	uint32_t pid = pid_of(export, event->process);
	char *name = timeline_change_name(event);

	put_instant(export, pid, event->tid ? event->tid : pid, event->time, "p", name);
	fputs(",\"cat\":\"recording\"}", export->out.file);
	free(name);
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
	static const char *const color[] = { [XAUDIT_READ_RUN_ON] = "thread_state_running",
		[XAUDIT_READ_RUN_PREEMPTED] = "thread_state_runnable",
		[XAUDIT_READ_RUN_UNKNOWN] = "thread_state_unknown" };
	struct chrome *chrome = export->state;

	if (!timeline_run(run))
		return;
	if (!chrome->lane || chrome->lane->process != process || chrome->lane->thread != tid) {
		chrome->lane = row_new(export, process, tid);
		chrome->lane->tid = ON_CPU + chrome->lanes++;
	}
	put_head(export, 'X', chrome->lane->pid, chrome->lane->tid, run->from);
	put_us(export->out.file, ",\"dur\":", run->to - run->from);
	fprintf(export->out.file, ",\"name\":\"%s\",\"cat\":\"sched\",\"cname\":\"%s\"}", timeline_run(run),
		color[run->state]);
}

/* ---- arguments ---- */

struct args {
	FILE *to;
	bool some; /* the object is begun */
};

static void put_stack(FILE *to, const struct xaudit_read_stack *stack)
{
	putc('[', to);
	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		char *name = frames_name(stack->frame[i]);

		fputs(i ? "," : "", to);
		json_string(to, name);
		free(name);
	}
	putc(']', to);
}

static void put_arg(void *user, const struct args_one *one)
{
	struct args *args = user;
	uint64_t size = one->integer < 0 ? -(uint64_t)one->integer : (uint64_t)one->integer;

	fputs(args->some ? "," : ",\"args\":{", args->to);
	args->some = true;
	json_string(args->to, one->key);
	putc_unlocked(':', args->to);
	switch (one->is) {
	case ARGS_TEXT:
		json_bytes(args->to, one->text, one->size);
		break;
	case ARGS_NULL:
		fputs("null", args->to);
		break;
	case ARGS_SIGNED:
		fprintf(args->to, size > EXACT ? "\"%" PRId64 "\"" : "%" PRId64, one->integer);
		break;
	case ARGS_UNSIGNED:
		fprintf(args->to, one->number > EXACT ? "\"%" PRIu64 "\"" : "%" PRIu64, one->number);
		break;
	case ARGS_POINTER:
		fprintf(args->to, "\"0x%" PRIx64 "\"", one->number);
		break;
	case ARGS_REAL:
		fprintf(args->to, "%.*g", one->digits, one->real);
		break;
	case ARGS_STACK:
		put_stack(args->to, one->stack);
		break;
	}
}

static void put_args(struct export *export, const struct export_call *call, bool begin, bool end)
{
	struct args args = { export->out.file, false };

	args_call(call, begin, end, &(struct args_to){ &args, put_arg });
	/* A complete event has a field for that. */
	if (end && !begin && call->known && call->call->cpu != XAUDIT_READ_UNKNOWN)
		put_arg(&args, &(struct args_one){ .key = "on_cpu_ns", .is = ARGS_UNSIGNED,
				       .number = call->call->cpu });
	if (args.some)
		putc_unlocked('}', args.to);
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
	function_text_write(export->out.file, function_text_made(&chrome->names, row->waiting->function));
	put_args(export, &call, true, false);
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
	function_text_write(export->out.file, function_text_made(&chrome->names, call->call->function));
	put_args(export, call, whole, true);
	putc_unlocked('}', export->out.file);
	row->waiting = NULL;
}

static void custom(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct args args = { export->out.file, false };
	struct row *row = row_of(export, track);
	char *name = timeline_custom_name(item);

	put_waiting(export, row);
	put_instant(export, row->pid, row->tid, item->time, "t", name);
	free(name);
	fputs(",\"cat\":\"custom\"", args.to);
	args_custom(export, item, &(struct args_to){ &args, put_arg });
	fputs(args.some ? "}}" : "}", args.to);
}

static void probe(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct args args = { export->out.file, false };
	struct row *row = row_of(export, track);

	put_waiting(export, row);
	put_instant(export, row->pid, row->tid, item->time, "t", item->probe->name);
	fputs(",\"cat\":\"probe\"", args.to);
	args_probe(item, &(struct args_to){ &args, put_arg });
	fputs("}}", args.to);
}

static void lost(struct export *export, struct export_track *track, const struct xaudit_read_item *item)
{
	struct row *row = track ? row_of(export, track) : NULL;
	uint32_t pid = pid_of(export, item->process);
	char *name = timeline_lost_name(item);

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
	char *name = timeline_counted_name(item);

	put_instant(export, pid, pid, info->end, "p", name);
	fprintf(export->out.file, ",\"cat\":\"counted\",\"args\":{\"calls\":%" PRIu64 ",\"library\":", item->count);
	json_string(export->out.file, item->function->object->path);
	fputs("}}", export->out.file);
	free(name);
}

/* ---- the end ---- */

static void put_row(struct export *export, const struct row *row)
{
	struct timeline *timeline = &((struct chrome *)export->state)->timeline;
	const struct export_track *track = row->track;
	char *name = track ? timeline_track_name(timeline, export, track)
			   : timeline_lane_name(timeline, export, row->process, row->thread);

	put_name(export, row->pid, row->tid, "thread_name", name);
	free(name);
	/* Below those of its thread. */
	put_order(export, row->pid, row->tid, "thread_sort_index",
		4ull * row->thread + (!track ? 1 : track->stack || track->beside ? 2 : 0));
}

static void end(struct export *export)
{
	struct chrome *chrome = export->state;
	const struct xaudit_read_trace_info *info = export->info;

	for (uint32_t i = 0; i < chrome->rows; i++) {
		put_row(export, chrome->row[i]);
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
	timeline_free(&chrome->timeline);
	function_texts_free(&chrome->names);
	free(chrome->row);
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
	.probe = probe,
	.lost = lost,
	.counted = counted,
	.end = end,
};
