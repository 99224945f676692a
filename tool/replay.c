/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * xaudit replay: the calls as an indented tree, all threads merged in time order.
 *
 * A call whose end is the next event of its thread is one line (a leaf). So each thread needs one event of lookahead, and
 * nothing is kept but the open calls.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/event_text.h"
#include "tool/memory.h"
#include "tool/reader.h"
#include "tool/tool.h"
#include "tool/trace_merge.h"

static const char help[] =
	"Usage: xaudit replay [OPTION]... [DIR]\n"
	"Shows the calls as an indented tree, from the trace in DIR (default: xaudit.data).\n"
	"\n"
	"Options:\n"
	"  --tid=N          only the thread with this id\n"
	"  -D, --depth=N    only calls with less than N open calls above them\n" READER_HELP_TEXT;

struct frame {
	uint64_t start; /* ns */
	uint32_t id;
};

/* The open calls of a thread file's present thread. */
struct thread {
	struct frame *frame;
	uint32_t depth, room;
	uint32_t tid;
};

struct replay {
	struct reader_options options;
	const struct reader_colors *color;
	struct merge merge;
	uint32_t tid; /* 0: all */
	uint32_t depth;
};

static bool wanted(const struct replay *r, uint32_t tid, uint32_t depth)
{
	return (!r->tid || r->tid == tid) && depth < r->depth;
}

/* What stands before the text of a line. ns: UINT64_MAX for none. */
static void begin_line(const struct replay *r, uint64_t ns, uint32_t tid, uint32_t depth)
{
	char buf[READER_TIME_SIZE];

	printf("%12s [%7" PRIu32 "] %s|%s ", ns == UINT64_MAX ? "" : reader_time(buf, ns), tid, r->color->dim, r->color->off);
	for (; depth; depth--)
		fputs("  ", stdout);
}

static void print_name(const struct replay *r, struct process *process, uint32_t id)
{
	char buf[320];

	fputs(r->color->name, stdout);
	tool_text(stdout, function_name(process, process_function(process, id), buf, sizeof(buf)));
	fputs(r->color->off, stdout);
}

static const char *how(enum merge_type type)
{
	return type == MERGE_UNWIND ? "unwound" : type == MERGE_TAIL ? "tail call" : NULL;
}

/* Ends the top frame. */
static void close_frame(struct replay *r, struct merge_source *source, enum merge_type type, uint64_t time)
{
	struct thread *thread = source->user;
	struct frame *frame = &thread->frame[--thread->depth];

	if (!wanted(r, thread->tid, thread->depth))
		return;
	begin_line(r, time - frame->start, thread->tid, thread->depth);
	printf("} %s/* ", r->color->dim);
	print_name(r, source->process, frame->id);
	printf("%s%s%s */%s\n", r->color->dim, how(type) ? ": " : "", how(type) ? how(type) : "", r->color->off);
}

static void open_frame(struct replay *r, struct merge_source *source, const struct merge_event *event)
{
	struct thread *thread = source->user;
	const struct merge_event *next = &source->head;
	bool leaf = source->more && next->id == event->id &&
		(next->type == MERGE_EXIT || next->type == MERGE_TAIL || next->type == MERGE_UNWIND);
	bool show = wanted(r, thread->tid, thread->depth);

	if (show) {
		begin_line(r, leaf ? next->time - event->time : UINT64_MAX, thread->tid, thread->depth);
		print_name(r, source->process, event->id);
		if (leaf && how(next->type))
			printf("(); %s/* %s */%s\n", r->color->dim, how(next->type), r->color->off);
		else
			puts(leaf ? "();" : "() {");
	}
	if (leaf) {
		merge_skip(&r->merge, source);
		return;
	}
	if (thread->depth == thread->room) {
		thread->room = thread->room ? thread->room * 2 : 64;
		thread->frame = memory_resize(thread->frame, thread->room, sizeof(*thread->frame));
	}
	thread->frame[thread->depth++] = (struct frame){ event->time, event->id };
}

static void end_frame(struct replay *r, struct merge_source *source, const struct merge_event *event)
{
	struct thread *thread = source->user;
	uint32_t at = thread->depth;

	while (at && thread->frame[at - 1].id != event->id)
		at--;
	if (!at) {
		if (!wanted(r, thread->tid, thread->depth))
			return;
		begin_line(r, UINT64_MAX, thread->tid, thread->depth);
		printf("%s/* end of ", r->color->dim);
		print_name(r, source->process, event->id);
		printf("%s, whose call is not in the trace */%s\n", r->color->dim, r->color->off);
		return;
	}
	while (thread->depth > at)
		close_frame(r, source, MERGE_UNWIND, event->time);
	close_frame(r, source, event->type, event->time);
}

/* The thread has no more events. */
static void end_thread(struct replay *r, struct merge_source *source)
{
	struct thread *thread = source->user;

	if (thread->depth && wanted(r, thread->tid, 0)) {
		begin_line(r, UINT64_MAX, thread->tid, 0);
		printf("%s/* %" PRIu32 " calls unfinished */%s\n", r->color->dim, thread->depth, r->color->off);
	}
	thread->depth = 0;
}

/* A remark of no thread file: at the depth of the thread that it is about. */
static uint32_t depth_of(const struct replay *r, const struct process *process, uint32_t tid)
{
	for (unsigned i = 0; i < r->merge.sources; i++) {
		struct thread *thread = r->merge.source[i]->user;
		if (r->merge.source[i]->process == process && thread && thread->tid == tid)
			return thread->depth < r->depth ? thread->depth : r->depth;
	}
	return 0;
}

static void print_remark(struct replay *r, struct merge_source *source, const struct merge_event *event)
{
	if (r->tid && r->tid != event->tid)
		return;
	begin_line(r, UINT64_MAX, event->tid, depth_of(r, source->process, event->tid));
	switch (event->type) {
	case MERGE_LOST:
		printf("%s/* LOST %" PRIu64 " events */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case MERGE_CRASH:
		printf("%s/* ends by signal %" PRIu64 " */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case MERGE_OVERWRITTEN:
		printf("%s/* %" PRIu64 " chunks were overwritten */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case MERGE_CHANGE:
		printf("%s/* ", r->color->warn);
		change_print(stdout, source->process, merge_change(source, event));
		printf(" */%s\n", r->color->off);
		return;
	default:
		break;
	}
	printf("%s/* %s ", r->color->dim, event->type == MERGE_LOAD ? "load" : "unload");
	tool_text(stdout, object_path(event->object));
	printf(" at 0x%" PRIx64 " */%s\n", event->base, r->color->off);
}

#define CUSTOM_LIMIT 60 /* characters of data on a line */

static void print_custom(struct replay *r, struct merge_source *source, const struct merge_event *event)
{
	struct thread *thread = source->user;
	const char *name = process_type_now(source->process, event->id);

	if (!wanted(r, thread->tid, thread->depth))
		return;
	begin_line(r, UINT64_MAX, thread->tid, thread->depth);
	printf("%s/* %s", r->color->dim, r->color->name);
	event_type(stdout, name, event->id);
	printf("%s%s: ", r->color->off, r->color->dim);
	event_text(stdout, event->data, event->count, CUSTOM_LIMIT);
	printf(" (%" PRIu64 " bytes) */%s\n", event->count, r->color->off);
}

static void take(struct replay *r, struct merge_source *source, const struct merge_event *event)
{
	struct thread *thread = source->user;

	switch (event->type) {
	case MERGE_THREAD:
		end_thread(r, source);
		thread->tid = event->tid;
		break;
	case MERGE_ENTRY:
		open_frame(r, source, event);
		break;
	case MERGE_POINT:
		if (!wanted(r, thread->tid, thread->depth))
			break;
		begin_line(r, UINT64_MAX, thread->tid, thread->depth);
		print_name(r, source->process, event->id);
		printf("(); %s/* entry only */%s\n", r->color->dim, r->color->off);
		break;
	case MERGE_EXIT:
	case MERGE_TAIL:
	case MERGE_UNWIND:
		end_frame(r, source, event);
		break;
	case MERGE_CUSTOM:
		print_custom(r, source, event);
		break;
	case MERGE_LOST:
	case MERGE_OVERWRITTEN: /* what was open may have ended there */
		if (thread)
			end_thread(r, source);
		print_remark(r, source, event);
		break;
	case MERGE_LOAD:
	case MERGE_UNLOAD:
	case MERGE_CHANGE:
	case MERGE_CRASH:
		print_remark(r, source, event);
		break;
	}
}

static void replay(struct replay *r, struct folder *folder)
{
	struct merge_source *source;
	struct merge_event event;

	printf("%s#  DURATION       TID      FUNCTION%s\n", r->color->head, r->color->off);
	merge_open(&r->merge, folder);
	for (unsigned i = 0; i < r->merge.sources; i++)
		r->merge.source[i]->user = r->merge.source[i]->is_meta ? NULL : memory_zeroed(1, sizeof(struct thread));
	while (!reader_output_broken() && (source = merge_next(&r->merge, &event)))
		take(r, source, &event);
	for (unsigned i = 0; i < r->merge.sources; i++) {
		struct thread *thread = r->merge.source[i]->user;
		if (!thread)
			continue;
		end_thread(r, r->merge.source[i]);
		free(thread->frame);
		free(thread);
	}
	merge_close(&r->merge);
}

enum { REPLAY_TID = READER_OWN };

static bool take_option(const struct reader_options *options, int option, void *context)
{
	struct replay *r = context;

	if (option == REPLAY_TID)
		return reader_number(optarg, INT32_MAX, &r->tid) ||
			reader_bad_value(options, "--tid", optarg, "the id of a thread");
	return reader_number(optarg, UINT32_MAX, &r->depth) ||
		reader_bad_value(options, "--depth", optarg, "a number from 1 up");
}

int replay_main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "tid", required_argument, NULL, REPLAY_TID },
		{ "depth", required_argument, NULL, 'D' },
		READER_LONG_OPTIONS,
		{ 0 },
	};
	static const struct reader_syntax syntax = {
		.command = "replay", .help = help, .letters = ":D:", .options = long_options, .own = take_option
	};
	struct replay r = { .depth = UINT32_MAX };
	int status = reader_begin(&r.options, &syntax, &r, argc, argv);

	if (status >= 0)
		return status;

	struct folder *folder = folder_open(r.options.dir, r.options.pid);
	if (!folder)
		return TOOL_FAILED;
	r.color = reader_colors(&r.options);
	replay(&r, folder);
	return reader_end(folder);
}
