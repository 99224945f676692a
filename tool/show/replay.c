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
#include "tool/show/digits.h"
#include "tool/show/event_text.h"
#include "tool/show/function_text.h"
#include "tool/show/show.h"
#include "tool/show/term/srcline.h"
#include "tool/show/trace_has.h"
#include "tool/show/term/frames.h"
#include "tool/show/values.h"

struct replay {
	struct show_options options;
	const struct show_colors *color;
	uint32_t tid; /* 0: all */
	uint32_t depth;
	uint64_t from, to; /* ns after the trace's start; 0: not given */
	uint64_t first, end; /* the same as times of events */
	struct function_texts texts; /* names of functions, as print_name() writes them */
};

static bool wanted(const struct replay *r, uint32_t tid, size_t depth)
{
	return (!r->tid || r->tid == tid) && depth < r->depth;
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
		fwrite_unlocked(text->text, 1, text->length, stdout);
	else
		write_name(r, stdout, function);
}

static bool has_values(const struct replay *r, const struct xaudit_read_call *call)
{
	return !r->options.no_values && (call->entered || call->ended);
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
static void print_backtrace(
	struct replay *r, const struct xaudit_read_event *event, const struct xaudit_read_values *values)
{
	const struct xaudit_read_stack *stack = r->options.no_values ? NULL : xaudit_read_stack(values);

	for (uint32_t i = 0; stack && i < stack->frames; i++) {
		begin_line(r, UINT64_MAX, event->tid, event->depth + 1);
		printf("%s/* %s ", r->color->dim, i ? "by" : "called by");
		frames_print(stdout, stack->frame[i]);
		printf(" */%s\n", r->color->off);
	}
	if (!stack || stack->end == XAUDIT_READ_STACK_BOTTOM)
		return;
	begin_line(r, UINT64_MAX, event->tid, event->depth + 1);
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

/*
 * The calls that were open when what is shown begins, the outermost first: each once, when something in it is shown, or
 * its end. depth: of `call`, the innermost one that is open on the stack.
 */
static void print_open(struct replay *r, uint32_t tid, struct xaudit_read_call *call, size_t depth)
{
	char buf[SHOW_TIME_SIZE];

	/* What is around a call that was shown was shown, too. */
	if (!call || call->start >= r->first || call->user[0])
		return;
	call->user[0] = 1;
	print_open(r, tid, call->parent, depth - 1);
	if (!wanted(r, tid, depth))
		return;
	begin_line(r, UINT64_MAX, tid, depth);
	print_call(r, call);
	printf(" { %s/* began %s before */%s", r->color->dim, show_time(buf, r->first - call->start), r->color->off);
	end_line(r, call->function);
}

/* Those around what an event tells of, or that end by it. */
static void print_around(struct replay *r, const struct xaudit_read_event *event)
{
	bool begins = event->what == XAUDIT_READ_EVENT_ENTRY || event->what == XAUDIT_READ_EVENT_POINT;
	struct xaudit_read_call *call = begins && event->call ? event->call->parent : event->call;

	if (r->first && event->depth)
		print_open(r, event->tid, call, event->depth - 1);
}

/* A call: as a whole if nothing is in it, else its first line. */
static void print_entry(struct replay *r, const struct xaudit_read_event *event)
{
	const struct xaudit_read_call *call = event->call;

	if (!is_leaf(call)) {
		begin_line(r, UINT64_MAX, event->tid, event->depth);
		print_call(r, call);
		fputs(" {", stdout);
		end_line(r, event->function);
		print_backtrace(r, event, event->call->entered);
		return;
	}
	begin_line(r, call->end - call->start, event->tid, event->depth);
	print_call(r, call);
	if (has_values(r, call))
		values_result(stdout, call->ended, (int)call->how);
	putchar(';');
	if (phrase(call->how) && !has_values(r, call))
		printf(" %s/* %s */%s", r->color->dim, phrase(call->how), r->color->off);
	end_line(r, event->function);
	print_backtrace(r, event, event->call->entered);
}

/* A call of which only the entry is recorded. */
static void print_point(struct replay *r, const struct xaudit_read_event *event)
{
	const struct xaudit_read_call *call = event->call;

	begin_line(r, UINT64_MAX, event->tid, event->depth);
	print_call(r, call);
	if (has_values(r, call))
		values_result(stdout, NULL, (int)call->how);
	printf("; %s/* entry only */%s\n", r->color->dim, r->color->off);
	print_backtrace(r, event, event->call->entered);
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

/* The calls that end, the innermost one first. */
static void print_ends(struct replay *r, const struct xaudit_read_event *event)
{
	const struct xaudit_read_call *call = event->call;
	uint32_t depth = event->depth;

	for (uint32_t i = 0; i < event->ends; i++, call = call->parent) {
		if (!wanted(r, event->tid, --depth))
			continue;
		begin_line(r, call->end - call->start, event->tid, depth);
		fputs_unlocked("} ", stdout);
		fputs_unlocked(r->color->dim, stdout);
		fputs_unlocked("/* ", stdout);
		print_end(r, call);
		fputs_unlocked(" */", stdout);
		fputs_unlocked(r->color->off, stdout);
		putchar_unlocked('\n');
	}
}

/* An end whose call is not known. */
static void print_orphan(struct replay *r, const struct xaudit_read_event *event)
{
	begin_line(r, UINT64_MAX, event->tid, event->depth);
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
	begin_line(r, UINT64_MAX, event->tid, event->depth);
	printf("%s/* stack ", r->color->dim);
	event_stack(stdout, event->stack);
	printf(" */%s\n", r->color->off);
}

/* A remark that comes from no thread file is shown at the depth of the thread that it is about. */
static void print_remark(struct replay *r, const struct xaudit_read_event *event)
{
	begin_line(r, UINT64_MAX, event->tid, event->depth < r->depth ? event->depth : r->depth);
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
	begin_line(r, UINT64_MAX, event->tid, event->depth);
	printf("%s/* %s", r->color->dim, r->color->name);
	event_type(stdout, event->type, event->type_number);
	printf("%s%s: ", r->color->off, r->color->dim);
	event_text(stdout, event->data, event->data_size, CUSTOM_LIMIT);
	printf(" (%" PRIu32 " bytes) */%s\n", event->data_size, r->color->off);
	print_backtrace(r, event, event->values);
}

/* The calls that are open on a stack have no end. */
static void print_unfinished(struct replay *r, const struct xaudit_read_event *event)
{
	begin_line(r, UINT64_MAX, event->tid, 0);
	printf("%s/* %" PRIu64 " call%s unfinished */%s\n", r->color->dim, event->count, show_s(event->count),
		r->color->off);
}

static void take(struct replay *r, const struct xaudit_read_event *event)
{
	bool here = wanted(r, event->tid, event->depth);

	print_around(r, event);
	switch (event->what) {
	case XAUDIT_READ_EVENT_ENTRY:
		if (here)
			print_entry(r, event);
		break;
	case XAUDIT_READ_EVENT_POINT:
		if (here)
			print_point(r, event);
		break;
	case XAUDIT_READ_EVENT_EXIT:
	case XAUDIT_READ_EVENT_TAIL:
	case XAUDIT_READ_EVENT_UNWIND:
		print_ends(r, event);
		/* To unwind a call that is not known says nothing. */
		if (!event->ends && event->what != XAUDIT_READ_EVENT_UNWIND && here)
			print_orphan(r, event);
		break;
	case XAUDIT_READ_EVENT_STACK:
	case XAUDIT_READ_EVENT_PART:
		if (here)
			print_stack(r, event);
		break;
	case XAUDIT_READ_EVENT_CUSTOM:
		if (here)
			print_custom(r, event);
		break;
	case XAUDIT_READ_EVENT_UNFINISHED:
		if (wanted(r, event->tid, 0))
			print_unfinished(r, event);
		break;
	case XAUDIT_READ_EVENT_LOAD:
	case XAUDIT_READ_EVENT_UNLOAD:
		if (!event->inherited && (!r->tid || r->tid == event->tid))
			print_remark(r, event);
		break;
	case XAUDIT_READ_EVENT_GONE:
		if (!event->count)
			break;
		/* fallthrough */
	case XAUDIT_READ_EVENT_LOST:
	case XAUDIT_READ_EVENT_CHANGE:
	case XAUDIT_READ_EVENT_CRASH:
		if (!r->tid || r->tid == event->tid)
			print_remark(r, event);
		break;
	}
}

static void replay(struct replay *r, struct xaudit_read_trace *trace)
{
	struct xaudit_read_events_options options = { .size = sizeof(options), .leaves = 1, .from = r->first };
	struct xaudit_read_events *events;
	struct xaudit_read_event event;

	show_say_coarse_trace(trace, "# ");
	printf("%s#  DURATION       TID      FUNCTION%s\n", r->color->head, r->color->off);
	events = xaudit_read_events(trace, &options, NULL);
	while (events && !show_output_broken() && xaudit_read_next_event(events, &event)) {
		if (r->end && event.time >= r->end)
			break;
		take(r, &event);
	}
	xaudit_read_events_close(events);
}

static const struct options_row rows[] = {
	{ 0, "tid", "N", "only the thread with this id", .take = options_number, .most = INT32_MAX,
		.at = offsetof(struct replay, tid), .allowed = "the id of a thread" },
	{ 'D', "depth", "N", "only calls with less than N open calls above them", .take = options_number,
		.most = UINT32_MAX, .at = offsetof(struct replay, depth), .allowed = "a number from 1 up" },
	{ 0, "from", "TIME", "only what came so long after the start of the trace,\n"
		"or later: in seconds, or as 10ms, 3us, 5ns",
		.take = options_span, .at = offsetof(struct replay, from), .allowed = OPTIONS_SPAN },
	{ 0, "to", "TIME", "only what came before that", .take = options_span_end,
		.at = offsetof(struct replay, to), .allowed = OPTIONS_SPAN_END },
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
	struct xaudit_read_trace *trace = show_begin(&r.options, &syntax, argc, argv, &status);

	if (!trace)
		return status;
	r.color = show_colors(&r.options);
	r.texts = (struct function_texts){ .write = write_name, .user = &r };
	if (trace_has_no_span(r.from, r.to)) {
		tool_error("replay", TRACE_HAS_NO_SPAN "; `xaudit replay --help` lists what there is");
		status = TOOL_USAGE;
	} else {
		status = trace_has("replay", &trace, 1, r.tid, r.from) ? TOOL_OK : TOOL_FAILED;
	}
	if (status != TOOL_OK) {
		xaudit_read_close(trace);
		return status;
	}
	const uint64_t start = xaudit_read_trace_info(trace)->start;
	r.first = r.from ? start + r.from : 0;
	r.end = r.to ? start + r.to : 0;
	replay(&r, trace);
	function_texts_free(&r.texts);
	return show_end_trace(trace);
}
