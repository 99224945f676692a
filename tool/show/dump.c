/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* xaudit dump: every event, in time order over all threads and processes. */
#include <inttypes.h>
#include <stdlib.h>

#include "tool/show/event_format.h"
#include "tool/show/event_text.h"
#include "tool/json.h"
#include "tool/show/open.h"
#include "tool/show/show.h"
#include "tool/tool.h"
#include "tool/read/merge.h"

struct dump {
	struct show_options options;
	const struct show_colors *color;
	struct event_formats formats;
};

static const char *word(enum read_merge_type type)
{
	switch (type) {
	case READ_MERGE_ENTRY:
	case READ_MERGE_POINT:
		return "entry";
	case READ_MERGE_EXIT:
		return "exit";
	case READ_MERGE_TAIL:
		return "tail";
	case READ_MERGE_UNWIND:
		return "unwind";
	case READ_MERGE_LOST:
		return "lost";
	case READ_MERGE_LOAD:
		return "load";
	case READ_MERGE_UNLOAD:
		return "unload";
	case READ_MERGE_CHANGE:
		return "change";
	case READ_MERGE_CRASH:
		return "crash";
	case READ_MERGE_CUSTOM:
		return "custom";
	case READ_MERGE_OVERWRITTEN:
		return "gap";
	case READ_MERGE_STACK:
	case READ_MERGE_PART:
		return "stack";
	case READ_MERGE_THREAD:
		break;
	}
	return "thread";
}

/* What an event is about: both formats show the same. */
struct about {
	const char *function; /* NULL: none */
	const char *library;  /* NULL: none */
	uint64_t address;
	bool has_address;
	char buf[320];
};

static void find_function(struct about *about, struct read_merge_source *source, const struct read_function *function)
{
	struct read_object *object = function ? read_process_object(source->process, function->object) : NULL;

	about->function = read_function_name(source->process, function, about->buf, sizeof(about->buf));
	about->library = read_object_path(object);
	const struct read_load *load = object ? read_merge_load_of(source, object) : NULL;
	if (load) {
		about->address = load->base + function->offset;
		about->has_address = true;
	}
}

static void find_about(struct about *about, struct read_merge_source *source, const struct read_merge_event *event)
{
	const struct read_change *change;

	about->function = about->library = NULL;
	about->has_address = false;
	switch (event->type) {
	case READ_MERGE_LOST:
	case READ_MERGE_THREAD:
	case READ_MERGE_CRASH:
	case READ_MERGE_CUSTOM:
	case READ_MERGE_OVERWRITTEN:
	case READ_MERGE_STACK:
	case READ_MERGE_PART:
		return;
	case READ_MERGE_CHANGE:
		change = read_merge_change(source, event);
		if (change->what == TRACE_CHANGE_THROTTLED)
			find_function(about, source, change_function(source->process, change));
		return;
	case READ_MERGE_LOAD:
	case READ_MERGE_UNLOAD:
		about->library = read_object_path(event->object);
		about->address = event->base;
		about->has_address = true;
		return;
	default:
		find_function(about, source, read_merge_function(source, event));
	}
}

static void print_change_json(const struct read_change *change)
{
	printf(",\"change\":\"%s\"", read_change_word(change->what));
	if (change->what == TRACE_CHANGE_MODE)
		printf(",\"mode\":\"%s\"", read_mode_word(change->value));
	else
		printf(",\"value\":%" PRIu64, change->value);
	if (*change->text) {
		printf(",\"text\":");
		json_string(stdout, change->text);
	}
}

static void print_custom_json(
	const struct dump *dump, struct read_merge_source *source, const struct read_merge_event *event)
{
	const char *name = read_process_type_now(source->process, event->id);
	const struct event_format *format = event_format_find(&dump->formats, name, event->id);

	printf(",\"type\":");
	json_string(stdout, name);
	printf(",\"type_number\":%" PRIu32 ",\"size\":%" PRIu64 ",\"data\":\"", event->id, event->count);
	event_base64(stdout, event->data, event->count);
	putchar('"');
	if (format) {
		putchar(',');
		event_format_json(stdout, format, event->data, event->count);
	}
}

static void print_custom(
	const struct dump *dump, struct read_merge_source *source, const struct read_merge_event *event)
{
	const char *name = read_process_type_now(source->process, event->id);
	const struct event_format *format = event_format_find(&dump->formats, name, event->id);

	printf("  %s", dump->color->name);
	event_type(stdout, name, event->id);
	printf("%s  ", dump->color->off);
	if (format)
		event_format_text(stdout, format, event->data, event->count);
	else
		event_text(stdout, event->data, event->count, SIZE_MAX);
	printf("  %s%" PRIu64 " bytes%s\n", dump->color->dim, event->count, dump->color->off);
}

static void print_json(const struct dump *dump, const struct about *about, struct read_merge_source *source,
	const struct read_merge_event *event)
{
	printf("{\"time_ns\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"event\":\"%s\",\"function\":", event->time, event->tid,
		word(event->type));
	json_string(stdout, about->function);
	names_json(stdout, about->function);
	printf(",\"library\":");
	json_string(stdout, about->library);
	if (about->has_address)
		printf(",\"address\":\"0x%" PRIx64 "\"", about->address);
	else
		printf(",\"address\":null");
	if (event->type == READ_MERGE_POINT)
		printf(",\"return\":false");
	if (event->stack)
		printf(",\"stack\":%" PRIu32, event->stack);
	if (event->type == READ_MERGE_LOST)
		printf(",\"count\":%" PRIu64, event->count);
	if (event->type == READ_MERGE_CRASH)
		printf(",\"signal\":%" PRIu64, event->count);
	if (event->type == READ_MERGE_OVERWRITTEN)
		printf(",\"overwritten_chunks\":%" PRIu64, event->count);
	if (event->type == READ_MERGE_CHANGE)
		print_change_json(read_merge_change(source, event));
	if (event->type == READ_MERGE_CUSTOM)
		print_custom_json(dump, source, event);
	puts("}");
}

static void print_text(const struct dump *dump, const struct about *about, struct read_merge_source *source,
	const struct read_merge_event *event)
{
	const struct show_colors *color = dump->color;

	printf("%" PRIu64 ".%09u  %7" PRIu32 "  %-6s", event->time / 1000000000, (unsigned)(event->time % 1000000000),
		event->tid, word(event->type));
	if (about->has_address)
		printf("  0x%012" PRIx64, about->address);
	else
		printf("  %14s", "-");
	if (event->type == READ_MERGE_LOST)
		printf("  %s%" PRIu64 " events%s", color->warn, event->count, color->off);
	if (event->type == READ_MERGE_CRASH)
		printf("  %sends by signal %" PRIu64 "%s", color->warn, event->count, color->off);
	if (event->type == READ_MERGE_OVERWRITTEN)
		printf("  %s%" PRIu64 " chunks were overwritten%s", color->warn, event->count, color->off);
	if (event->type == READ_MERGE_STACK || event->type == READ_MERGE_PART) {
		printf("  %s", color->name);
		event_stack(stdout, event->id);
		fputs(color->off, stdout);
	}
	if (event->type == READ_MERGE_PART)
		printf("  with what is open, but for %" PRIu64 " calls", event->count);
	if (event->type == READ_MERGE_CHANGE) {
		printf("  %s", color->warn);
		change_print(stdout, source->process, read_merge_change(source, event));
		printf("%s\n", color->off);
		return;
	}
	if (event->type == READ_MERGE_CUSTOM) {
		print_custom(dump, source, event);
		return;
	}
	if (about->function) {
		printf("  %s", color->name);
		names_print(stdout, about->function);
		printf("%s", color->off);
	}
	if (about->library) {
		printf("  %s", color->dim);
		tool_text(stdout, about->library);
		printf("%s", color->off);
	}
	puts(event->type == READ_MERGE_POINT ? "  entry only" : "");
}

static void dump_all(const struct dump *dump, struct read_folder *folder)
{
	struct read_merge_source *source;
	struct read_merge_event event;
	struct about about;
	struct read_merge merge;

	if (!dump->options.json)
		show_say_coarse(folder, "# ");
	if (!read_merge_open(&merge, folder, NULL))
		return;
	while (!show_output_broken() && (source = read_merge_next(&merge, &event))) {
		if (event.type == READ_MERGE_THREAD)
			source->user = NULL;
		/* These events only tell replay where a tree ends; here each event has its tid. */
		if (event.type == READ_MERGE_THREAD || (event.type == READ_MERGE_OVERWRITTEN && !event.count))
			continue;
		/* In JSON each event has its stack; a thread's first stack need not be told. */
		bool begins = event.type == READ_MERGE_STACK && !source->user;
		if (event.type == READ_MERGE_STACK || event.type == READ_MERGE_PART) {
			source->user = source;
			if (dump->options.json || begins)
				continue;
		}
		find_about(&about, source, &event);
		if (dump->options.json)
			print_json(dump, &about, source, &event);
		else
			print_text(dump, &about, source, &event);
	}
	read_merge_close(&merge);
}

static bool take_event_format(const struct options_given *given)
{
	struct dump *dump = given->context;
	char *wrong = event_format_add(&dump->formats, given->value);

	if (wrong)
		options_wrong(given, wrong);
	free(wrong);
	return !wrong;
}

static const struct options_row rows[] = {
	SHOW_FORMAT("text or json", "text (default), or json: one object per line"),
	{ 0, "event-format", "TYPE=FORMAT",
		"how to decode the data of custom events of this type, by name or\n"
		"number, such as request='u32 id, string name'; several times",
		.take = take_event_format, .wrong = "%o can't be '%v': %a" },
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "dump",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit dump [OPTION]... [DIR]\n"
		"Shows every event in time order, from the trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
};

int dump_main(int argc, char **argv)
{
	struct dump dump = { 0 };
	int status = show_begin(&dump.options, &syntax, argc, argv);

	if (status < 0) {
		struct read_folder *folder = show_open(dump.options.dir, dump.options.pid);
		dump.color = show_colors(&dump.options);
		if (folder)
			dump_all(&dump, folder);
		status = folder ? show_end(folder) : TOOL_FAILED;
	}
	event_format_free(&dump.formats);
	return status;
}
