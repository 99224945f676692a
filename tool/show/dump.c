/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* xaudit dump: every event, in time order over all threads and processes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "tool/base/json.h"
#include "tool/base/tool.h"
#include "tool/show/choice.h"
#include "tool/show/digits.h"
#include "tool/show/dump_lines.h"
#include "tool/show/event_format.h"
#include "tool/show/event_text.h"
#include "tool/show/function_text.h"
#include "tool/show/probe_text.h"
#include "tool/show/show.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/srcline.h"
#include "tool/show/values.h"

struct dump {
	struct choice choice;
	const struct show_colors *color;
	struct event_formats formats;
	struct function_texts texts; /* what stands behind the address in text, before it in JSON */
	struct dump_lines lines;     /* with --min */
};

static const char *word(int what)
{
	static const char *const words[] = {
		[XAUDIT_READ_EVENT_ENTRY] = "entry",
		[XAUDIT_READ_EVENT_EXIT] = "exit",
		[XAUDIT_READ_EVENT_TAIL] = "tail",
		[XAUDIT_READ_EVENT_UNWIND] = "unwind",
		[XAUDIT_READ_EVENT_POINT] = "entry",
		[XAUDIT_READ_EVENT_CUSTOM] = "custom",
		[XAUDIT_READ_EVENT_PROBE] = "probe",
		[XAUDIT_READ_EVENT_LOAD] = "load",
		[XAUDIT_READ_EVENT_UNLOAD] = "unload",
		[XAUDIT_READ_EVENT_CHANGE] = "change",
		[XAUDIT_READ_EVENT_LOST] = "lost",
		[XAUDIT_READ_EVENT_GONE] = "gap",
		[XAUDIT_READ_EVENT_CRASH] = "crash",
		[XAUDIT_READ_EVENT_STACK] = "stack",
		[XAUDIT_READ_EVENT_PART] = "stack",
	};

	return words[what];
}

/* Before each caller: below the place of the function. */
#define BACKTRACE "                                                   > "

/* ENTRY to POINT */
static bool is_of_call(const struct xaudit_read_event *event)
{
	return event->what >= XAUDIT_READ_EVENT_ENTRY && event->what <= XAUDIT_READ_EVENT_POINT;
}

/* How an event ends a call. */
static int how_of(int what)
{
	return what == XAUDIT_READ_EVENT_TAIL	? XAUDIT_READ_JUMPED :
	       what == XAUDIT_READ_EVENT_UNWIND ? XAUDIT_READ_UNWOUND :
						  XAUDIT_READ_RETURNED;
}

static bool is_throttled(const struct xaudit_read_event *event)
{
	return event->what == XAUDIT_READ_EVENT_CHANGE && event->change->what == TRACE_CHANGE_THROTTLED;
}

/* What an event is about: both formats show the same. NULL: of no function. */
static const char *function_of(const struct xaudit_read_event *event)
{
	if (is_throttled(event))
		return event->change->function ? event->change->function->name : "[unknown]";
	return event->function ? event->function->name : NULL;
}

static const char *library_of(const struct xaudit_read_event *event)
{
	if (event->object)
		return event->object->path;
	return is_throttled(event) ? "[unknown]" : NULL;
}

static void print_change_json(const struct xaudit_read_change *change)
{
	printf(",\"change\":\"%s\"", change->word);
	if (change->what == TRACE_CHANGE_MODE)
		printf(",\"mode\":\"%s\"", xaudit_read_mode_word(change->value));
	else
		printf(",\"value\":%" PRIu64, change->value);
	if (*change->text) {
		printf(",\"text\":");
		json_string(stdout, change->text);
	}
}

static void print_custom_json(const struct dump *dump, const struct xaudit_read_event *event)
{
	const struct event_format *format = event_format_find(&dump->formats, event->type, event->type_number);

	printf(",\"type\":");
	json_string(stdout, event->type);
	printf(",\"type_number\":%" PRIu32 ",\"size\":%" PRIu32 ",\"data\":\"", event->type_number, event->data_size);
	event_base64(stdout, event->data, event->data_size);
	putchar('"');
	if (format) {
		putchar(',');
		event_format_json(stdout, format, event->data, event->data_size);
	}
}

static void print_custom(const struct dump *dump, const struct xaudit_read_event *event)
{
	const struct event_format *format = event_format_find(&dump->formats, event->type, event->type_number);

	printf("  %s", dump->color->name);
	event_type(stdout, event->type, event->type_number);
	printf("%s  ", dump->color->off);
	if (format)
		event_format_text(stdout, format, event->data, event->data_size);
	else
		event_text(stdout, event->data, event->data_size, SIZE_MAX);
	printf("  %s%" PRIu32 " bytes%s\n", dump->color->dim, event->data_size, dump->color->off);
}

/* ---- most lines: quickly ---- */

#define LINE_MOST (256 + FUNCTION_TEXT_MOST)

static void write_function_json(void *user, FILE *file, const struct xaudit_read_function *function)
{
	(void)user;
	fputs(",\"function\":", file);
	json_string(file, function->name);
	names_json(file, function->name);
	fputs(",\"library\":", file);
	json_string(file, function->object->path);
	srcline_json(file, function);
}

static void write_function(void *user, FILE *file, const struct xaudit_read_function *function)
{
	const struct dump *dump = user;
	const struct show_colors *color = dump->color;

	fprintf(file, "  %s", color->name);
	names_print(file, function->name);
	fprintf(file, "%s  %s", color->off, color->dim);
	tool_text(file, function->object->path);
	srcline_print(file, function);
	fputs(color->off, file);
}

static char *put_word(char *at, int what)
{
	return digits_text(at, word(what), strlen(word(what)));
}

static char *put_line_json(
	char *at, const struct xaudit_read_event *event, const struct function_text *function)
{
	at = digits_put(DIGITS_WORD(at, "{\"time_ns\":"), event->time);
	at = digits_put(DIGITS_WORD(at, ",\"tid\":"), event->tid);
	at = DIGITS_WORD(put_word(DIGITS_WORD(at, ",\"event\":\""), event->what), "\"");
	at = digits_text(at, function->text, function->length);
	if (event->address != XAUDIT_READ_UNKNOWN)
		at = DIGITS_WORD(digits_hex(DIGITS_WORD(at, ",\"address\":\"0x"), event->address, 1), "\"");
	else
		at = DIGITS_WORD(at, ",\"address\":null");
	if (event->what == XAUDIT_READ_EVENT_POINT)
		at = DIGITS_WORD(at, ",\"return\":false");
	if (event->stack)
		at = digits_put(DIGITS_WORD(at, ",\"stack\":"), event->stack);
	return DIGITS_WORD(at, "}\n");
}

static char *put_line_text(
	char *at, const struct xaudit_read_event *event, const struct function_text *function)
{
	at = DIGITS_WORD(digits_put(at, event->time / 1000000000), ".");
	at = DIGITS_WORD(digits_fixed(at, (uint32_t)(event->time % 1000000000), 9), "  ");
	at = DIGITS_WORD(digits_right(at, event->tid, 7), "  ");
	char *end = at + 6;
	at = put_word(at, event->what);
	while (at < end)
		*at++ = ' ';
	if (event->address != XAUDIT_READ_UNKNOWN)
		at = digits_hex(DIGITS_WORD(at, "  0x"), event->address, 12);
	else
		at = DIGITS_WORD(at, "               -");
	at = digits_text(at, function->text, function->length);
	return event->what == XAUDIT_READ_EVENT_POINT ? DIGITS_WORD(at, "  entry only\n") : DIGITS_WORD(at, "\n");
}

/* Returns false if it is no such line. */
static bool print_quickly(struct dump *dump, const struct xaudit_read_event *event)
{
	const struct function_text *function;
	char line[LINE_MOST];

	if (!is_of_call(event) || event->values || !event->function || event->object != event->function->object ||
		!(function = function_text_of(&dump->texts, event->function)))
		return false;
	char *end = dump->choice.show.json ? put_line_json(line, event, function)
					   : put_line_text(line, event, function);
	fwrite_unlocked(line, 1, (size_t)(end - line), stdout);
	return true;
}

/* ---- all lines ---- */

static void print_function_json(const struct xaudit_read_event *event)
{
	printf("\"function\":");
	json_string(stdout, function_of(event));
	names_json(stdout, function_of(event));
	printf(",\"library\":");
	json_string(stdout, library_of(event));
	if (event->function)
		srcline_json(stdout, event->function);
}

static void print_json(const struct dump *dump, const struct xaudit_read_event *event)
{
	printf("{\"time_ns\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"event\":\"%s\",", event->time, event->tid,
		word(event->what));
	if (event->what == XAUDIT_READ_EVENT_PROBE)
		probe_json(stdout, event->probe);
	else
		print_function_json(event);
	if (event->address != XAUDIT_READ_UNKNOWN)
		printf(",\"address\":\"0x%" PRIx64 "\"", event->address);
	else
		printf(",\"address\":null");
	if (event->what == XAUDIT_READ_EVENT_POINT)
		printf(",\"return\":false");
	if ((is_of_call(event) || event->what == XAUDIT_READ_EVENT_PROBE) && event->stack)
		printf(",\"stack\":%" PRIu32, event->stack);
	if (event->what == XAUDIT_READ_EVENT_LOST)
		printf(",\"count\":%" PRIu64, event->count);
	if (event->what == XAUDIT_READ_EVENT_CRASH)
		printf(",\"signal\":%d", event->signal);
	if (event->what == XAUDIT_READ_EVENT_GONE)
		printf(",\"overwritten_chunks\":%" PRIu64, event->count);
	if (event->what == XAUDIT_READ_EVENT_CHANGE)
		print_change_json(event->change);
	if (event->what == XAUDIT_READ_EVENT_CUSTOM)
		print_custom_json(dump, event);
	values_json(stdout, "values", event->values);
	puts("}");
}

/* The function, with the values that this event has: arguments of a call that begins, the result of one that ends. */
static void print_function(const struct dump *dump, const struct xaudit_read_event *event, const char *function)
{
	bool begins = event->what == XAUDIT_READ_EVENT_ENTRY || event->what == XAUDIT_READ_EVENT_POINT;

	printf("  %s", dump->color->name);
	if (event->values)
		names_print_bare(stdout, function);
	else
		names_print(stdout, function);
	printf("%s", dump->color->off);
	if (!event->values)
		return;
	if (begins)
		values_arguments(stdout, event->values, NULL);
	else if (values_have(event->values, XAUDIT_READ_VALUE_ARGUMENT))
		values_arguments(stdout, NULL, event->values);
	if (!begins)
		values_result(stdout, event->values, how_of(event->what));
}

static void print_text(const struct dump *dump, const struct xaudit_read_event *event)
{
	const struct show_colors *color = dump->color;
	const char *function = function_of(event), *library = library_of(event);

	printf("%" PRIu64 ".%09u  %7" PRIu32 "  %-6s", event->time / 1000000000, (unsigned)(event->time % 1000000000),
		event->tid, word(event->what));
	if (event->address != XAUDIT_READ_UNKNOWN)
		printf("  0x%012" PRIx64, event->address);
	else
		printf("  %14s", "-");
	if (event->what == XAUDIT_READ_EVENT_LOST)
		printf("  %s%" PRIu64 " events%s", color->warn, event->count, color->off);
	if (event->what == XAUDIT_READ_EVENT_CRASH)
		printf("  %sends by signal %d%s", color->warn, event->signal, color->off);
	if (event->what == XAUDIT_READ_EVENT_GONE)
		printf("  %s%" PRIu64 " buffers were overwritten%s", color->warn, event->count, color->off);
	if (event->what == XAUDIT_READ_EVENT_STACK || event->what == XAUDIT_READ_EVENT_PART) {
		printf("  %s", color->name);
		event_stack(stdout, event->stack);
		fputs(color->off, stdout);
	}
	if (event->what == XAUDIT_READ_EVENT_PART)
		printf("  with what is open, but for %" PRIu64 " calls", event->count);
	if (event->what == XAUDIT_READ_EVENT_CHANGE) {
		printf("  %s", color->warn);
		show_change(stdout, event->change);
		printf("%s\n", color->off);
		return;
	}
	if (event->what == XAUDIT_READ_EVENT_CUSTOM) {
		print_custom(dump, event);
		frames_lines(stdout, xaudit_read_stack(event->values), BACKTRACE, "\n");
		return;
	}
	if (event->what == XAUDIT_READ_EVENT_PROBE) {
		printf("  %s", color->name);
		probe_text(stdout, event->probe, event->values);
		printf("%s  ", color->off);
		probe_place(stdout, event->probe);
	}
	if (function)
		print_function(dump, event, function);
	if (library) {
		printf("  %s", color->dim);
		tool_text(stdout, library);
		if (event->function)
			srcline_print(stdout, event->function);
		if (event->what == XAUDIT_READ_EVENT_PROBE)
			probe_source(stdout, event->probe);
		printf("%s", color->off);
	}
	puts(event->what == XAUDIT_READ_EVENT_POINT ? "  entry only" : "");
	frames_lines(stdout, xaudit_read_stack(event->values), BACKTRACE, "\n");
}

/* Events that only tell replay where a tree ends; here each event has its tid, and in JSON its stack. */
static bool is_told(const struct dump *dump, const struct xaudit_read_event *event)
{
	switch (event->what) {
	case XAUDIT_READ_EVENT_THREAD:
	case XAUDIT_READ_EVENT_UNFINISHED:
		return false;
	case XAUDIT_READ_EVENT_GONE:
		return event->count;
	case XAUDIT_READ_EVENT_LOAD: /* the process that saw it tells it */
	case XAUDIT_READ_EVENT_UNLOAD:
		return !event->inherited;
	case XAUDIT_READ_EVENT_STACK: /* a thread's first stack need not be told */
	case XAUDIT_READ_EVENT_PART:
		return !dump->choice.show.json && !event->first;
	default:
		return true;
	}
}

static void print(struct dump *dump, const struct xaudit_read_event *event)
{
	if (print_quickly(dump, event))
		return;
	if (dump->choice.show.json)
		print_json(dump, event);
	else
		print_text(dump, event);
}

/* The call that the event is about: of an end the outermost one that ends by it. NULL: it is not in the trace. */
static struct xaudit_read_call *call_of(const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call;
	bool begins = event->what == XAUDIT_READ_EVENT_ENTRY || event->what == XAUDIT_READ_EVENT_POINT;

	if (!begins && !event->ends)
		return NULL;
	for (uint32_t i = 1; i < event->ends; i++)
		call = call->parent;
	return call;
}

/* Is the event shown, as far as that can be told now? An ENTRY may be one of a call that will not be long enough. */
static bool is_chosen(struct dump *dump, const struct xaudit_read_event *event)
{
	struct choice *choice = &dump->choice;

	if (!is_told(dump, event))
		return false;
	if (!is_of_call(event))
		return choice_shows(choice, event);
	struct xaudit_read_call *call = call_of(event);
	if (!call)
		return !choice->min && (!choice->words || choice_names(choice, event->function));
	if (!choice_is_inside(choice, call))
		return false;
	return !choice->min || event->what == XAUDIT_READ_EVENT_ENTRY ||
	       (event->what != XAUDIT_READ_EVENT_POINT && choice_is_long(choice, call, call->end));
}

/* What the event says of calls whose lines wait. */
static void decide(struct dump *dump, const struct xaudit_read_event *event)
{
	struct xaudit_read_call *call = event->call;
	uint64_t calls = event->what == XAUDIT_READ_EVENT_UNFINISHED ? event->count : event->ends;

	for (uint64_t i = 0; i < calls && call; i++, call = call->parent)
		dump_lines_decide(&dump->lines, call, event->time);
	dump_lines_pass(&dump->lines, event->time);
}

static void take(struct dump *dump, struct xaudit_read_event *event)
{
	struct choice *choice = &dump->choice;
	bool chosen = choice_is_thread(choice, event->tid) && is_chosen(dump, event);

	if (dump->choice.show.no_values)
		event->values = NULL;
	if (!choice->min) {
		if (chosen && choice_counts(choice, event->process, event->tid, event->time))
			print(dump, event);
		return;
	}
	decide(dump, event);
	if (!chosen)
		return;
	dump_lines_begin(&dump->lines);
	if (!choice->counting)
		print(dump, event);
	dump_lines_end(&dump->lines, event, event->what == XAUDIT_READ_EVENT_ENTRY ? event->call : NULL);
}

static void pass(struct dump *dump, struct xaudit_read_trace *trace)
{
	struct xaudit_read_events *events = choice_begin(&dump->choice, trace, false, false);
	const uint64_t end = dump->choice.end;
	struct xaudit_read_event event;

	while (events && !show_output_broken() && xaudit_read_next_event(events, &event)) {
		if (!end || event.time < end)
			take(dump, &event);
		else if (dump->lines.undecided)
			decide(dump, &event);
		else
			break;
	}
	dump_lines_pass(&dump->lines, UINT64_MAX);
	dump_lines_close(&dump->lines);
	xaudit_read_events_close(events);
}

static void dump_all(struct dump *dump, struct xaudit_read_trace *trace)
{
	if (!dump->choice.show.json)
		show_say_coarse_trace(trace, "# ");
	dump->choice.counting = dump->choice.tail;
	if (dump->choice.counting)
		pass(dump, trace);
	dump->choice.counting = false;
	pass(dump, trace);
}

static const struct options_row rows[] = {
	CHOICE_ROWS("events"),
	SHOW_FORMAT("text or json", "text (default), or json: one object per line"),
	{ 0, "event-format", "TYPE=FORMAT",
		"how to decode the data of custom events of this type, by name or\n"
		"number, such as request='u32 id, string name'; several times",
		.take = event_format_take, .at = offsetof(struct dump, formats), .wrong = "%o can't be '%v': %a" },
	SRCLINE_ROW,
	SHOW_NO_VALUES,
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "dump",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit dump [OPTION]... [DIR]\n"
		"Shows every event in time order, from the trace in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
};

int dump_main(int argc, char **argv)
{
	struct dump dump = { 0 };
	int status;
	struct xaudit_read_trace *trace = choice_open(&dump.choice, &syntax, argc, argv, &status);

	if (trace) {
		dump.color = show_colors(&dump.choice.show);
		dump.texts = (struct function_texts){
			.write = dump.choice.show.json ? write_function_json : write_function, .user = &dump
		};
		dump.lines.choice = &dump.choice;
		dump_all(&dump, trace);
		bool found = choice_found("dump", &dump.choice, trace);
		status = show_end_trace(trace);
		status = status == TOOL_OK && !found ? TOOL_FAILED : status;
	}
	function_texts_free(&dump.texts);
	event_format_free(&dump.formats);
	choice_free(&dump.choice);
	return status;
}
