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

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/choice.h"
#include "tool/show/digits.h"
#include "tool/show/event_text.h"
#include "tool/show/function_text.h"
#include "tool/show/probe_text.h"
#include "tool/show/show.h"
#include "tool/show/term/srcline.h"
#include "tool/show/term/frames.h"
#include "tool/show/values.h"

/* Of a call user[0] is 1 when the line is written in which it begins, or need not be. */
struct replay {
	struct choice choice;
	const struct show_colors *color;
	uint32_t depth;
	struct function_texts texts; /* names of functions, as print_name() writes them */
	struct xaudit_read_call **path; /* to calls that are open, for a moment */
	uint32_t path_room;
};

static uint32_t depth_of(const struct replay *r, const struct xaudit_read_call *call)
{
	return choice_depth(&r->choice, call, call->depth);
}

static bool wanted(struct replay *r, struct xaudit_read_call *call)
{
	return choice_is_inside(&r->choice, call) && depth_of(r, call) < r->depth;
}

/* Where what is in the call stands, if it is shown; NULL: on the outermost level. */
static uint32_t depth_in(const struct replay *r, const struct xaudit_read_call *call)
{
	return call ? depth_of(r, call) + 1 : 0;
}

#define LINE_BEGIN 80
#define LINE_DEPTH 64

/* A time in a column, as show_time_column() has it. */
static char *put_time(char *at, uint64_t ns)
{
	char buf[SHOW_TIME_SIZE];

	if (ns >= 1000000) {
		size_t length = strlen(show_time_column(buf, ns));
		for (size_t i = length; i < 12; i++)
			*at++ = ' ';
		return digits_text(at, buf, length);
	}
	at = digits_right(at, ns / 1000, 5);
	*at++ = '.';
	return digits_text(digits_fixed(at, (uint32_t)(ns % 1000), 3), " us", 3);
}

/* What stands before the text of a line; ns: UINT64_MAX: no time. */
static char *put_begin(const struct replay *r, char *at, uint64_t ns, uint32_t tid)
{
	at = ns == UINT64_MAX ? digits_text(at, "            ", 12) : put_time(at, ns);
	at = digits_right(digits_text(at, " [", 2), tid, 7);
	at = digits_text(digits_text(at, "] ", 2), r->color->dim, strlen(r->color->dim));
	at = digits_text(digits_text(at, "|", 1), r->color->off, strlen(r->color->off));
	return digits_text(at, " ", 1);
}

/* Where a line beside calls stands. */
static uint32_t depth_in_of(struct replay *r, const struct xaudit_read_event *event)
{
	if (!r->choice.words)
		return event->depth;
	return choice_is_inside(&r->choice, event->call) ? depth_in(r, event->call) : 0;
}

/* Writes what stands before the text of a line. ns: UINT64_MAX: no time. */
static void begin_line(struct replay *r, uint64_t ns, uint32_t tid, size_t depth)
{
	char line[LINE_BEGIN + 2 * LINE_DEPTH], *end = put_begin(r, line, ns, tid);
	size_t here = depth < LINE_DEPTH ? depth : LINE_DEPTH;

	memset(end, ' ', 2 * here);
	fwrite_unlocked(line, 1, (size_t)(end + 2 * here - line), stdout);
	for (; here < depth; here++)
		fputs_unlocked("  ", stdout);
}

static void write_name(void *user, FILE *file, const struct xaudit_read_function *function)
{
	const struct replay *r = user;

	fputs(r->color->name, file);
	names_print(file, function->name);
	fputs(r->color->off, file);
}

static void print_name(struct replay *r, const struct xaudit_read_function *function)
{
	const struct function_text *text = function_text_of(&r->texts, function);

	if (text)
		function_text_write(stdout, text);
	else
		write_name(r, stdout, function);
}

static bool has_values(const struct replay *r, const struct xaudit_read_call *call)
{
	return !r->choice.show.no_values && (call->entered || call->ended);
}

/* A call with its arguments; those that it has written, too, as far as it has ended. */
static void print_call(struct replay *r, const struct xaudit_read_call *call)
{
	if (!has_values(r, call)) {
		print_name(r, call->function);
		fputs_unlocked(names_call(call->function->name), stdout);
		return;
	}
	fputs(r->color->name, stdout);
	names_print_bare(stdout, call->function->name);
	fputs(r->color->off, stdout);
	values_arguments(stdout, call->entered, call->ended);
}

/* Ends the line where a call begins: with where its function is defined, if that is wanted. */
static void end_line(struct replay *r, const struct xaudit_read_function *function)
{
	if (srcline_wanted()) {
		fputs(r->color->dim, stdout);
		srcline_print(stdout, function);
		fputs(r->color->off, stdout);
	}
	putchar('\n');
}

/* Who called, below the first line of a call, or below a custom event. */
static void print_backtrace(struct replay *r, const struct xaudit_read_event *event,
	const struct xaudit_read_values *values, uint32_t depth)
{
	const struct xaudit_read_stack *stack = r->choice.show.no_values ? NULL : xaudit_read_stack(values);

	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		begin_line(r, UINT64_MAX, event->tid, depth);
		printf("%s/* %s ", r->color->dim, i ? "by" : "called by");
		frames_print(stdout, stack->frame[i]);
		printf(" */%s\n", r->color->off);
	}
	if (!stack || stack->end == XAUDIT_READ_STACK_BOTTOM)
		return;
	begin_line(r, UINT64_MAX, event->tid, depth);
	printf("%s/* the backtrace ends here: %s */%s\n", r->color->dim, stack->end_text, r->color->off);
}

/* ---- calls ---- */

/* How the call ended, as a phrase; NULL: it returned. */
static const char *phrase(uint32_t how)
{
	return how == XAUDIT_READ_JUMPED ? "tail call" : how == XAUDIT_READ_RETURNED ? NULL : "unwound";
}

static bool is_leaf(const struct xaudit_read_call *call)
{
	return call->how == XAUDIT_READ_RETURNED || call->how == XAUDIT_READ_JUMPED || call->how == XAUDIT_READ_UNWOUND;
}

/* The first line of a call that others are in. since: when what is shown of its thread begins. */
static void print_begin(struct replay *r, uint32_t tid, struct xaudit_read_call *call, uint64_t since)
{
	char buf[SHOW_TIME_SIZE];

	begin_line(r, UINT64_MAX, tid, depth_of(r, call));
	print_call(r, call);
	fputs_unlocked(" {", stdout);
	if (call->start < since)
		printf(" %s/* began %s before */%s", r->color->dim, show_time(buf, since - call->start),
			r->color->off);
	end_line(r, call->function);
}

/*
 * The calls that are open around what is shown next, and that were not shown: since they began before, or were not
 * known to be long enough.
 */
static void print_open(struct replay *r, const struct xaudit_read_event *event, struct xaudit_read_call *call)
{
	uint32_t count = 0;

	/* Not by recursion: there may be millions of them. What is around a call that was shown was shown, too. */
	for (; call && !call->user[0]; call = call->parent) {
		if (count == r->path_room) {
			r->path_room = count ? count * 2 : 64;
			r->path = memory_resize(r->path, r->path_room, sizeof(*r->path));
		}
		r->path[count++] = call;
	}
	while (count--) {
		r->path[count]->user[0] = 1;
		if (wanted(r, r->path[count]))
			print_begin(r, event->tid, r->path[count],
				choice_since(&r->choice, event->process, event->tid));
	}
}

/* Those around what an event tells of, or that end by it. */
static void print_around(struct replay *r, const struct xaudit_read_event *event)
{
	bool begins = event->what == XAUDIT_READ_EVENT_ENTRY || event->what == XAUDIT_READ_EVENT_POINT;

	/* From the beginning on all calls are shown when they begin. */
	if (r->choice.first || r->choice.tail)
		print_open(r, event, begins && event->call ? event->call->parent : event->call);
}

/* Has what is shown of the event's thread begun? */
static bool has_begun(const struct replay *r, const struct xaudit_read_event *event)
{
	return choice_since(&r->choice, event->process, event->tid) != UINT64_MAX;
}

/* A call as a whole. */
static void print_leaf(struct replay *r, const struct xaudit_read_event *event, const struct xaudit_read_call *call)
{
	begin_line(r, call->end - call->start, event->tid, depth_of(r, call));
	print_call(r, call);
	if (has_values(r, call))
		values_result(stdout, call->ended, (int)call->how);
	putchar_unlocked(';');
	if (phrase(call->how) && !has_values(r, call))
		printf(" %s/* %s */%s", r->color->dim, phrase(call->how), r->color->off);
	end_line(r, call->function);
}

/* A call of which only the entry is recorded. */
static void print_point(struct replay *r, const struct xaudit_read_event *event)
{
	const struct xaudit_read_call *call = event->call;

	begin_line(r, UINT64_MAX, event->tid, depth_of(r, call));
	print_call(r, call);
	if (has_values(r, call))
		values_result(stdout, NULL, (int)call->how);
	printf("; %s/* entry only */%s\n", r->color->dim, r->color->off);
}

/* A call begins: it is shown as a whole if nothing is in it, else its first line. */
static void take_entry(struct replay *r, const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call;
	bool whole = is_leaf(call);

	if (!wanted(r, call) || (r->choice.min && !(whole && choice_is_long(&r->choice, call, call->end))) ||
		!choice_counts(&r->choice, event->process, event->tid, call->start))
		return;
	if (r->choice.min || r->choice.tail)
		print_open(r, event, call->parent);
	call->user[0] = 1;
	if (event->what == XAUDIT_READ_EVENT_POINT) {
		print_point(r, event);
	} else if (whole) {
		print_leaf(r, event, call);
	} else {
		print_begin(r, event->tid, call, 0);
	}
	print_backtrace(r, event, call->entered, depth_in(r, call));
}

/* Behind the bracket of a call that ends: its result, and all of it if it has written some of its arguments. */
static void print_end(struct replay *r, const struct xaudit_read_call *call)
{
	if (has_values(r, call) && values_have(call->ended, XAUDIT_READ_VALUE_ARGUMENT))
		print_call(r, call);
	else
		print_name(r, call->function);
	fputs(r->color->dim, stdout);
	if (has_values(r, call))
		values_result(stdout, call->ended, (int)call->how);
	else if (phrase(call->how))
		printf(": %s", phrase(call->how));
}

/* The last line of a call. */
static void print_last(struct replay *r, const struct xaudit_read_event *event, const struct xaudit_read_call *call)
{
	begin_line(r, call->end - call->start, event->tid, depth_of(r, call));
	fputs_unlocked("} ", stdout);
	fputs_unlocked(r->color->dim, stdout);
	fputs_unlocked("/* ", stdout);
	print_end(r, call);
	fputs_unlocked(" */", stdout);
	fputs_unlocked(r->color->off, stdout);
	putchar_unlocked('\n');
}

/* With --min: a call that nothing is shown of yet is shown as a whole. */
static void take_long(struct replay *r, const struct xaudit_read_event *event, struct xaudit_read_call *call)
{
	if (!choice_is_long(&r->choice, call, call->end) ||
		!choice_counts(&r->choice, event->process, event->tid, call->start))
		return;
	if (call->user[0]) {
		print_last(r, event, call);
		return;
	}
	print_open(r, event, call->parent);
	print_leaf(r, event, call);
	print_backtrace(r, event, call->entered, depth_in(r, call));
}

/* The calls that end, the innermost one first. */
static void take_ends(struct replay *r, const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call;

	for (uint32_t i = 0; i < event->ends; i++, call = call->parent) {
		if (!wanted(r, call))
			continue;
		if (r->choice.min)
			take_long(r, event, call);
		else if (has_begun(r, event))
			print_last(r, event, call);
	}
}

/* An end whose call is not known. */
static void print_orphan(struct replay *r, const struct xaudit_read_event *event)
{
	begin_line(r, UINT64_MAX, event->tid, depth_in_of(r, event));
	printf("%s/* end of ", r->color->dim);
	print_name(r, event->function);
	printf("%s, %s */%s\n", r->color->dim,
		!event->depth && xaudit_read_process_head(event->process)->forked
			? "which was called before the fork" : "whose call is not in the trace",
		r->color->off);
}

/* ---- remarks ---- */

/* The thread's events are on another stack from here on. */
static void print_stack(struct replay *r, const struct xaudit_read_event *event)
{
	/* A thread's first stack need not be told. */
	if (!event->before || event->before == event->stack)
		return;
	begin_line(r, UINT64_MAX, event->tid, depth_in_of(r, event));
	printf("%s/* stack ", r->color->dim);
	event_stack(stdout, event->stack);
	printf(" */%s\n", r->color->off);
}

/* A remark that comes from no thread file is shown at the depth of the thread that it is about. */
static void print_remark(struct replay *r, const struct xaudit_read_event *event)
{
	uint32_t depth = depth_in_of(r, event);

	begin_line(r, UINT64_MAX, event->tid, depth < r->depth ? depth : r->depth);
	switch (event->what) {
	case XAUDIT_READ_EVENT_LOST:
		printf("%s/* LOST %" PRIu64 " event%s */%s\n", r->color->warn, event->count, show_s(event->count),
			r->color->off);
		return;
	case XAUDIT_READ_EVENT_CRASH:
		printf("%s/* ends by signal %d */%s\n", r->color->warn, event->signal, r->color->off);
		return;
	case XAUDIT_READ_EVENT_GONE:
		printf("%s/* %" PRIu64 " buffer%s overwritten */%s\n", r->color->warn, event->count,
			event->count == 1 ? " was" : "s were", r->color->off);
		return;
	case XAUDIT_READ_EVENT_CHANGE:
		printf("%s/* ", r->color->warn);
		show_change(stdout, event->change);
		printf(" */%s\n", r->color->off);
		return;
	default:
		break;
	}
	printf("%s/* %s ", r->color->dim, event->what == XAUDIT_READ_EVENT_LOAD ? "load" : "unload");
	tool_text(stdout, event->object->path);
	printf(" at 0x%" PRIx64 " */%s\n", event->address, r->color->off);
}

#define CUSTOM_LIMIT 60 /* characters of data on a line */

static void print_custom(struct replay *r, const struct xaudit_read_event *event)
{
	begin_line(r, UINT64_MAX, event->tid, depth_in_of(r, event));
	printf("%s/* %s", r->color->dim, r->color->name);
	event_type(stdout, event->type, event->type_number);
	printf("%s%s: ", r->color->off, r->color->dim);
	event_text(stdout, event->data, event->data_size, CUSTOM_LIMIT);
	printf(" (%" PRIu32 " bytes) */%s\n", event->data_size, r->color->off);
	print_backtrace(r, event, event->values, depth_in_of(r, event) + 1);
}

static void print_probe(struct replay *r, const struct xaudit_read_event *event)
{
	const struct xaudit_read_values *values = r->choice.show.no_values ? NULL : event->values;

	begin_line(r, UINT64_MAX, event->tid, depth_in_of(r, event));
	printf("%s/* probe %s", r->color->dim, r->color->name);
	probe_text(stdout, event->probe, values);
	printf("%s%s", r->color->off, r->color->dim);
	if (srcline_wanted())
		probe_source(stdout, event->probe);
	printf(" */%s\n", r->color->off);
	print_backtrace(r, event, values, depth_in_of(r, event) + 1);
}

/* The calls that are open on a stack have no end. They have taken as long as they were open. */
static void take_unfinished(struct replay *r, const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call, *innermost = NULL;
	uint64_t count = 0;

	for (; call; call = call->parent) {
		if (!choice_is_inside(&r->choice, call) || !choice_is_long(&r->choice, call, event->time))
			continue;
		innermost = innermost ? innermost : call;
		count++;
	}
	if (!count || !has_begun(r, event))
		return;
	if (r->choice.min)
		print_open(r, event, innermost);
	begin_line(r, UINT64_MAX, event->tid, 0);
	printf("%s/* %" PRIu64 " call%s unfinished */%s\n", r->color->dim, count, show_s(count), r->color->off);
}

static void take(struct replay *r, const struct xaudit_read_event *event)
{
	struct choice *choice = &r->choice;
	bool of_call = event->what >= XAUDIT_READ_EVENT_ENTRY && event->what <= XAUDIT_READ_EVENT_POINT;

	if (!choice_is_thread(choice, event->tid))
		return;
	if (!choice->min && has_begun(r, event))
		print_around(r, event);
	switch (event->what) {
	case XAUDIT_READ_EVENT_ENTRY:
	case XAUDIT_READ_EVENT_POINT:
		take_entry(r, event);
		return;
	case XAUDIT_READ_EVENT_UNFINISHED:
		take_unfinished(r, event);
		return;
	default:
		break;
	}
	if (of_call && event->ends) {
		take_ends(r, event);
		return;
	}
	if (!has_begun(r, event))
		return;
	bool here = depth_in_of(r, event) < r->depth;
	switch (event->what) {
	case XAUDIT_READ_EVENT_EXIT:
	case XAUDIT_READ_EVENT_TAIL:
		if (here && !choice->min && (!choice->words || choice_names(choice, event->function)))
			print_orphan(r, event);
		break;
	case XAUDIT_READ_EVENT_STACK:
	case XAUDIT_READ_EVENT_PART:
		if (here && choice_shows(choice, event))
			print_stack(r, event);
		break;
	case XAUDIT_READ_EVENT_CUSTOM:
		if (here && choice_shows(choice, event))
			print_custom(r, event);
		break;
	case XAUDIT_READ_EVENT_PROBE:
		if (here && choice_shows(choice, event))
			print_probe(r, event);
		break;
	case XAUDIT_READ_EVENT_LOAD:
	case XAUDIT_READ_EVENT_UNLOAD:
		if (!event->inherited && choice_shows(choice, event))
			print_remark(r, event);
		break;
	case XAUDIT_READ_EVENT_GONE:
		if (!event->count)
			break;
		/* fallthrough */
	case XAUDIT_READ_EVENT_LOST:
	case XAUDIT_READ_EVENT_CHANGE:
	case XAUDIT_READ_EVENT_CRASH:
		print_remark(r, event);
		break;
	default: /* to unwind a call that is not known says nothing */
		break;
	}
}

static void pass(struct replay *r, struct xaudit_read_trace *trace)
{
	struct xaudit_read_events *events = choice_begin(&r->choice, trace, true, r->depth != UINT32_MAX);
	struct xaudit_read_event event;

	while (events && !show_output_broken() && xaudit_read_next_event(events, &event)) {
		if (r->choice.end && event.time >= r->choice.end)
			break;
		take(r, &event);
	}
	xaudit_read_events_close(events);
}

static void replay(struct replay *r, struct xaudit_read_trace *trace)
{
	show_say_coarse_trace(trace, "# ");
	printf("%s#  DURATION       TID      FUNCTION%s\n", r->color->head, r->color->off);
	r->choice.counting = r->choice.tail;
	if (r->choice.counting)
		pass(r, trace);
	r->choice.counting = false;
	pass(r, trace);
}

static const struct options_row rows[] = {
	CHOICE_ROWS("calls"),
	{ 'D', "depth", "N", "only calls with less than N open calls above them", .take = options_number,
		.most = UINT32_MAX, .at = offsetof(struct replay, depth), .allowed = "a number from 1 up" },
	SRCLINE_ROW,
	SHOW_NO_VALUES,
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "replay",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit replay [OPTION]... [DIR]\n"
		"Shows the calls as an indented tree, from the trace in DIR (default:\n"
		TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

int replay_main(int argc, char **argv)
{
	struct replay r = { .depth = UINT32_MAX };
	int status;
	struct xaudit_read_trace *trace = choice_open(&r.choice, &syntax, argc, argv, &status);

	if (trace) {
		r.color = show_colors(&r.choice.show);
		r.texts = (struct function_texts){ .write = write_name, .user = &r };
		replay(&r, trace);
		bool found = choice_found("replay", &r.choice, trace);
		status = show_end_trace(trace);
		status = status == TOOL_OK && !found ? TOOL_FAILED : status;
	}
	function_texts_free(&r.texts);
	free(r.path);
	choice_free(&r.choice);
	return status;
}
