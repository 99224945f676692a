/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * xaudit replay: the calls as an indented tree, all threads merged in time order.
 *
 * A call whose end is the next event of its thread is one line (a leaf). So each thread needs one event of lookahead,
 * and nothing is kept but the open calls.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/show/event_text.h"
#include "tool/memory.h"
#include "tool/show/open.h"
#include "tool/show/show.h"
#include "tool/tool.h"
#include "tool/read/calls.h"
#include "tool/read/merge.h"
#include "tool/read/stacks.h"

/* A thread record's present thread; times of its calls are ns. */
struct thread {
	struct replay *replay;
	struct read_merge_source *source;
	struct read_stacks *stacks;	/* of the process */
	struct read_stack_calls *on; /* the stack that its events are on */
	uint32_t tid;
};

struct replay {
	struct show_options options;
	const struct show_colors *color;
	struct read_merge merge;
	struct read_stacks *stacks; /* of each process of the folder */
	uint32_t tid; /* 0: all */
	uint32_t depth;
};

static bool wanted(const struct replay *r, uint32_t tid, size_t depth)
{
	return (!r->tid || r->tid == tid) && depth < r->depth;
}

/* Writes what stands before the text of a line. ns: UINT64_MAX: no time. */
static void begin_line(const struct replay *r, uint64_t ns, uint32_t tid, size_t depth)
{
	char buf[SHOW_TIME_SIZE];

	printf("%12s [%7" PRIu32 "] %s|%s ", ns == UINT64_MAX ? "" : show_time(buf, ns), tid, r->color->dim,
		r->color->off);
	for (; depth; depth--)
		fputs("  ", stdout);
}

/* Returns what stands behind the name of a call. */
static const char *print_name(const struct replay *r, struct read_process *process, uint32_t id)
{
	char buf[320];
	const char *name = read_function_name(process, read_process_function(process, id), buf, sizeof(buf));

	fputs(r->color->name, stdout);
	names_print(stdout, name);
	fputs(r->color->off, stdout);
	return names_call(name);
}

/* ---- calls ---- */

static size_t depth_now(const struct thread *thread)
{
	return read_calls_depth(&thread->on->calls);
}

/* How the call ended, as a phrase; NULL: it returned. */
static const char *phrase(enum read_call_end how)
{
	return how == READ_CALL_JUMPED ? "tail call" : how == READ_CALL_RETURNED ? NULL : "unwound";
}

/* The line of a call that has lines in it, or what remains of one. */
static void print_open(const struct thread *thread, uint32_t id, size_t depth)
{
	const struct replay *r = thread->replay;

	if (!wanted(r, thread->tid, depth))
		return;
	begin_line(r, UINT64_MAX, thread->tid, depth);
	printf("%s {\n", print_name(r, thread->source->process, id));
}

static void enter(void *user, struct read_call *call, size_t at)
{
	const struct thread *thread = user;

	(void)at;
	print_open(thread, call->id, (size_t)(call - thread->on->calls.frame) - 1);
}

static void enter_deep(void *user, uint32_t id, size_t at)
{
	const struct thread *thread = user;

	(void)at;
	if (thread->on->calls.no_memory)
		memory_failed();
	print_open(thread, id, READ_CALLS_MOST);
}

static void end(void *user, struct read_call *call, enum read_call_end how, uint64_t time)
{
	const struct thread *thread = user;
	const struct replay *r = thread->replay;
	size_t depth = (size_t)(call - thread->on->calls.frame) - 1;

	if (!wanted(r, thread->tid, depth))
		return;
	begin_line(r, time - call->start, thread->tid, depth);
	printf("} %s/* ", r->color->dim);
	print_name(r, thread->source->process, call->id);
	printf("%s%s%s */%s\n", r->color->dim, phrase(how) ? ": " : "", phrase(how) ? phrase(how) : "", r->color->off);
}

static void orphan(void *user, uint32_t id, uint64_t time)
{
	const struct thread *thread = user;
	const struct replay *r = thread->replay;

	(void)time;
	if (!wanted(r, thread->tid, depth_now(thread)))
		return;
	begin_line(r, UINT64_MAX, thread->tid, depth_now(thread));
	printf("%s/* end of ", r->color->dim);
	print_name(r, thread->source->process, id);
	printf("%s, %s */%s\n", r->color->dim,
		read_process_is_forked(thread->source->process) && !depth_now(thread) ?
			"which was called before the fork" : "whose call is not in the trace",
		r->color->off);
}

static void point(void *user, uint32_t id, uint64_t time, size_t at)
{
	const struct thread *thread = user;
	const struct replay *r = thread->replay;

	(void)time;
	(void)at;
	if (!wanted(r, thread->tid, depth_now(thread)))
		return;
	begin_line(r, UINT64_MAX, thread->tid, depth_now(thread));
	printf("%s; %s/* entry only */%s\n", print_name(r, thread->source->process, id), r->color->dim, r->color->off);
}

static const struct read_calls_hooks hooks = {
	.enter = enter, .deep = enter_deep, .end = end, .point = point, .orphan = orphan,
};

/* Prints a call whose end is the next event of its thread as one line. Returns false if that is not so. */
static bool print_leaf(struct replay *r, struct read_merge_source *source, const struct read_merge_event *event)
{
	const struct thread *thread = source->user;
	const struct read_merge_event *next = &source->head;
	size_t depth = depth_now(thread);

	if (event->type != READ_MERGE_ENTRY || !source->more || next->id != event->id ||
		(next->type != READ_MERGE_EXIT && next->type != READ_MERGE_TAIL && next->type != READ_MERGE_UNWIND))
		return false;
	if (wanted(r, thread->tid, depth)) {
		const char *how = phrase((enum read_call_end)next->type);
		begin_line(r, next->time - event->time, thread->tid, depth);
		fputs(print_name(r, source->process, event->id), stdout);
		if (how)
			printf("; %s/* %s */%s\n", r->color->dim, how, r->color->off);
		else
			puts(";");
	}
	read_merge_skip(&r->merge, source);
	return true;
}

/* The calls that are open on the stack have no end. */
static void end_stack(void *user, struct read_stack_calls *stack)
{
	struct thread *thread = user;
	const struct replay *r = thread->replay;
	size_t depth = read_calls_depth(&stack->calls);

	if (depth && wanted(r, thread->tid, 0)) {
		begin_line(r, UINT64_MAX, thread->tid, 0);
		printf("%s/* %zu calls unfinished */%s\n", r->color->dim, depth, r->color->off);
	}
	read_calls_drop(&stack->calls, &hooks, thread);
}

/* The thread has no more events, or some are missing here. */
static void end_thread(struct thread *thread)
{
	read_stacks_each(thread->stacks, thread, end_stack, thread);
}

/* The thread's events are on another stack from here on. */
static void change_stack(struct thread *thread, const struct read_merge_event *event)
{
	const struct replay *r = thread->replay;
	struct read_stack_calls *before = thread->on;
	uint32_t number = before->number;

	if (event->type == READ_MERGE_PART) {
		thread->on =
			memory_need(read_stacks_part(thread->stacks, before, event->id, event->count, thread));
	} else {
		read_stacks_leave(thread->stacks, before);
		thread->on = memory_need(read_stacks_enter(thread->stacks, event->id, thread));
	}
	/* A thread's first stack need not be told. */
	if (!number || number == event->id || !wanted(r, thread->tid, depth_now(thread)))
		return;
	begin_line(r, UINT64_MAX, thread->tid, depth_now(thread));
	printf("%s/* stack ", r->color->dim);
	event_stack(stdout, event->id);
	printf(" */%s\n", r->color->off);
}

/* The record's events are another thread's from here on. Other threads may go on with the stacks that have numbers. */
static void change_thread(struct thread *thread, uint32_t tid)
{
	if (!thread->on->number)
		end_stack(thread, thread->on);
	read_stacks_leave(thread->stacks, thread->on);
	thread->on = memory_need(read_stacks_enter(thread->stacks, 0, thread));
	thread->tid = tid;
}

/* ---- remarks ---- */

/* A remark that comes from no thread file: it is shown at the depth of the thread that it is about. */
static size_t depth_of(const struct replay *r, const struct read_process *process, uint32_t tid)
{
	for (unsigned i = 0; i < r->merge.sources; i++) {
		struct thread *thread = r->merge.source[i]->user;
		if (r->merge.source[i]->process == process && thread && thread->tid == tid)
			return depth_now(thread) < r->depth ? depth_now(thread) : r->depth;
	}
	return 0;
}

static void print_remark(struct replay *r, struct read_merge_source *source, const struct read_merge_event *event)
{
	if (r->tid && r->tid != event->tid)
		return;
	begin_line(r, UINT64_MAX, event->tid, depth_of(r, source->process, event->tid));
	switch (event->type) {
	case READ_MERGE_LOST:
		printf("%s/* LOST %" PRIu64 " events */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case READ_MERGE_CRASH:
		printf("%s/* ends by signal %" PRIu64 " */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case READ_MERGE_OVERWRITTEN:
		printf("%s/* %" PRIu64 " chunks were overwritten */%s\n", r->color->warn, event->count, r->color->off);
		return;
	case READ_MERGE_CHANGE:
		printf("%s/* ", r->color->warn);
		change_print(stdout, source->process, read_merge_change(source, event));
		printf(" */%s\n", r->color->off);
		return;
	default:
		break;
	}
	printf("%s/* %s ", r->color->dim, event->type == READ_MERGE_LOAD ? "load" : "unload");
	tool_text(stdout, read_object_path(event->object));
	printf(" at 0x%" PRIx64 " */%s\n", event->base, r->color->off);
}

#define CUSTOM_LIMIT 60 /* characters of data on a line */

static void print_custom(struct replay *r, struct read_merge_source *source, const struct read_merge_event *event)
{
	struct thread *thread = source->user;
	const char *name = read_process_type_now(source->process, event->id);

	if (!wanted(r, thread->tid, depth_now(thread)))
		return;
	begin_line(r, UINT64_MAX, thread->tid, depth_now(thread));
	printf("%s/* %s", r->color->dim, r->color->name);
	event_type(stdout, name, event->id);
	printf("%s%s: ", r->color->off, r->color->dim);
	event_text(stdout, event->data, event->count, CUSTOM_LIMIT);
	printf(" (%" PRIu64 " bytes) */%s\n", event->count, r->color->off);
}

static void take(struct replay *r, struct read_merge_source *source, const struct read_merge_event *event)
{
	struct thread *thread = source->user;

	switch (event->type) {
	case READ_MERGE_THREAD:
		change_thread(thread, event->tid);
		break;
	case READ_MERGE_STACK:
	case READ_MERGE_PART:
		change_stack(thread, event);
		break;
	case READ_MERGE_ENTRY:
	case READ_MERGE_POINT:
	case READ_MERGE_EXIT:
	case READ_MERGE_TAIL:
	case READ_MERGE_UNWIND:
		if (!print_leaf(r, source, event))
			read_calls_take(&thread->on->calls, &hooks, thread, (enum trace_type)event->type, event->id,
				event->time);
		break;
	case READ_MERGE_CUSTOM:
		print_custom(r, source, event);
		break;
	case READ_MERGE_LOST:
	case READ_MERGE_OVERWRITTEN: /* what was open may have ended there */
		if (thread)
			end_thread(thread);
		if (event->type == READ_MERGE_LOST || event->count)
			print_remark(r, source, event);
		break;
	case READ_MERGE_LOAD:
	case READ_MERGE_UNLOAD:
	case READ_MERGE_CHANGE:
	case READ_MERGE_CRASH:
		print_remark(r, source, event);
		break;
	}
}

static void begin_thread(struct replay *r, struct read_merge_source *source, struct read_stacks *stacks)
{
	struct thread *thread = memory_zeroed(1, sizeof(*thread));

	thread->replay = r;
	thread->source = source;
	thread->stacks = stacks;
	thread->on = memory_need(read_stacks_enter(thread->stacks, 0, thread));
	source->user = thread;
}

static void replay(struct replay *r, struct read_folder *folder)
{
	struct read_merge_source *source;
	struct read_merge_event event;

	show_say_coarse(folder, "# ");
	printf("%s#  DURATION       TID      FUNCTION%s\n", r->color->head, r->color->off);
	if (!read_merge_open(&r->merge, folder, NULL))
		return;
	r->stacks = memory_zeroed(folder->processes, sizeof(*r->stacks));
	for (unsigned i = 0, process = 0; i < r->merge.sources; i++) {
		source = r->merge.source[i];
		while (folder->process[process] != source->process)
			process++;
		if (!source->is_meta)
			begin_thread(r, source, &r->stacks[process]);
	}
	while (!show_output_broken() && (source = read_merge_next(&r->merge, &event)))
		take(r, source, &event);
	for (unsigned i = 0; i < r->merge.sources; i++) {
		struct thread *thread = r->merge.source[i]->user;
		if (thread)
			end_thread(thread);
		free(thread);
	}
	for (unsigned i = 0; i < folder->processes; i++)
		read_stacks_close(&r->stacks[i]);
	free(r->stacks);
	read_merge_close(&r->merge);
}

static const struct options_row rows[] = {
	{ 0, "tid", "N", "only the thread with this id", .take = options_number, .most = INT32_MAX,
		.at = offsetof(struct replay, tid), .allowed = "the id of a thread" },
	{ 'D', "depth", "N", "only calls with less than N open calls above them", .take = options_number,
		.most = UINT32_MAX, .at = offsetof(struct replay, depth), .allowed = "a number from 1 up" },
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "replay",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit replay [OPTION]... [DIR]\n"
		"Shows the calls as an indented tree, from the trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
};

int replay_main(int argc, char **argv)
{
	struct replay r = { .depth = UINT32_MAX };
	int status = show_begin(&r.options, &syntax, argc, argv);

	if (status >= 0)
		return status;

	struct read_folder *folder = show_open(r.options.dir, r.options.pid);
	if (!folder)
		return TOOL_FAILED;
	r.color = show_colors(&r.options);
	replay(&r, folder);
	return show_end(folder);
}
