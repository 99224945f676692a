/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/calls/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/meant.h"
#include "tool/show/term/progress.h"
#include "tool/show/term/srcline.h"
#include "tool/show/term/term.h"
#include "tool/show/trace_has.h"

struct xaudit_read_trace *view_open(struct view_options *options, const struct options_syntax *syntax, int argc,
	char **argv, const char **function, bool needed, int *status)
{
	struct xaudit_read_trace *trace =
		show_begin_function(&options->show, syntax, argc, argv, function, needed, status);

	if (!trace)
		return NULL;
	options->color = show_colors(&options->show);
	if (trace_has_no_span(options->from, options->to)) {
		tool_error(syntax->command, TRACE_HAS_NO_SPAN "; `xaudit %s --help` lists what there is",
			syntax->command);
		*status = TOOL_USAGE;
	} else if (trace_has(syntax->command, &trace, 1, options->tid, options->from)) {
		return trace;
	} else {
		*status = TOOL_FAILED;
	}
	xaudit_read_close(trace);
	return NULL;
}

uint64_t view_from(struct xaudit_read_trace *trace, const struct view_options *options)
{
	return options->from ? xaudit_read_trace_info(trace)->start + options->from : 0;
}

uint64_t view_to(struct xaudit_read_trace *trace, const struct view_options *options)
{
	return options->to ? xaudit_read_trace_info(trace)->start + options->to : 0;
}

static struct xaudit_read_trace *reading; /* whose calls are being read */

uint64_t view_after_start(const struct xaudit_read_trace *trace, uint64_t time)
{
	uint64_t start = xaudit_read_trace_info(trace)->start;

	return time > start ? time - start : 0;
}

struct xaudit_read_calls *view_begin(
	struct xaudit_read_trace *trace, const struct view_options *options, bool enters)
{
	struct xaudit_read_calls_options only = {
		.size = sizeof(only),
		.enters = enters,
		/* It is not known whose they are, or when they were made. */
		.counted = !enters && !options->tid && !options->from && !options->to,
		.tid = options->tid,
		.values = options->values,
		.requests = options->values,
	};
	struct xaudit_read_error error;

	reading = trace;
	only.from = view_from(trace, options);
	only.to = view_to(trace, options);
	/* The options were checked, so only memory is left as a reason. */
	return memory_need(xaudit_read_calls(trace, &only, &error));
}

static void add_counted(struct view_left *left, const struct xaudit_read_item *item)
{
	uint32_t number = item->function->number;

	if (number >= left->functions) {
		uint32_t functions = (number + 64) * 2;

		left->counted_of = memory_resize(left->counted_of, functions, sizeof(*left->counted_of));
		memset(left->counted_of + left->functions, 0,
			(functions - left->functions) * sizeof(*left->counted_of));
		left->functions = functions;
	}
	left->counted_of[number] += item->count;
	left->counted += item->count;
}

int view_next(struct xaudit_read_calls *calls, struct xaudit_read_item *item, struct view_left *left)
{
	static uint32_t count;
	uint64_t done, all;
	int what;

	while ((what = xaudit_read_next_call(calls, item)) == XAUDIT_READ_COUNTED)
		add_counted(left, item);
	if (what == XAUDIT_READ_END) {
		progress_end();
		show_trace_need_memory(reading);
	} else if (!(++count & 0xffff)) {
		xaudit_read_calls_done(calls, &done, &all);
		progress(done, all);
	}
	return what;
}

struct xaudit_read_profile *view_profile(struct xaudit_read_trace *trace, const struct view_options *options)
{
	const struct xaudit_read_profile_options only = {
		.size = sizeof(only),
		.tid = options->tid,
		.from = options->from,
		.to = options->to,
		.jobs = XAUDIT_READ_ALL_CPUS,
		.progress = progress_told,
	};
	struct xaudit_read_error error;
	struct xaudit_read_profile *profile = memory_need(xaudit_read_profile(&trace, 1, &only, &error));

	progress_end();
	return profile;
}

/* ---- what calls have no time ---- */

void view_left_free(struct view_left *left)
{
	free(left->counted_of);
}

uint64_t view_counted_of(const struct view_left *left, const struct xaudit_read_function *function)
{
	return function->number < left->functions ? left->counted_of[function->number] : 0;
}

bool view_only_counted(const char *command, const struct view_left *left, const struct xaudit_read_function *function,
	uint64_t calls)
{
	if (calls || !view_counted_of(left, function))
		return false;
	tool_error(command, "calls of %s were only counted: nothing is known of a single one; `xaudit report` has "
			    "their number", names_shown(function->name));
	return true;
}

static uint64_t lost_events(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *process;
	uint64_t lost = 0;

	for (uint32_t i = 0; (process = xaudit_read_process(trace, i)); i++)
		lost += xaudit_read_process_info(process)->lost;
	return lost;
}

/* Where no switches were recorded it is known of no call, which needs no line. */
static uint64_t cpu_unknown(struct xaudit_read_trace *trace, const struct view_left *left)
{
	return xaudit_read_trace_info(trace)->sched ? left->no_cpu : 0;
}

bool view_has_left(struct xaudit_read_trace *trace, const struct view_left *left)
{
	return left->no_end || left->points || left->counted || cpu_unknown(trace, left) || lost_events(trace) ||
	       xaudit_read_trace_info(trace)->coarse;
}

void view_say_left(struct xaudit_read_trace *trace, const struct view_left *left, const struct show_colors *color)
{
	uint64_t lost = lost_events(trace);

	if (lost)
		printf("%s%" PRIu64 " event%s lost%s\n", color->warn, lost, lost == 1 ? " was" : "s were", color->off);
	if (left->no_end == 1)
		puts("1 call has no end in the trace: it has no time, but those in it have");
	else if (left->no_end)
		printf("%" PRIu64 " calls have no end in the trace: they have no time, but those in them have\n",
			left->no_end);
	show_points(left->points);
	show_counted(left->counted);
	if (cpu_unknown(trace, left))
		show_cpu_unknown(left->no_cpu);
	show_say_coarse_trace(trace, "");
}

void view_json_left(struct xaudit_read_trace *trace, const struct view_left *left)
{
	printf("\"lost\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"points\":%" PRIu64 ",\"counted\":%" PRIu64,
		lost_events(trace), left->no_end, left->points, left->counted);
	if (cpu_unknown(trace, left))
		printf(",\"cpu_unknown\":%" PRIu64, left->no_cpu);
}

/* ---- functions ---- */

static bool is_alias(const char *word, const struct xaudit_read_function *function)
{
	for (const char *name = function->aliases; *name; name += strlen(name) + 1)
		if (names_mean(word, name, function->object->path))
			return true;
	return false;
}

bool view_names(const char *word, const struct xaudit_read_function *function, bool by_alias)
{
	return by_alias ? is_alias(word, function) : names_mean(word, function->name, function->object->path);
}

static void say_found(const char *command, const char *word, const struct xaudit_read_trace *trace, uint32_t count,
	bool by_alias)
{
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (uint32_t i = 0, told = 0; i < xaudit_read_functions(trace) && told < 4; i++) {
		const struct xaudit_read_function *function = xaudit_read_function(trace, i);
		if (view_names(word, function, by_alias))
			fprintf(to, "%s %s@%s", told++ ? "," : "", names_shown(function->name),
				tool_base(function->object->path));
	}
	if (fclose(to))
		memory_failed();
	tool_error(command, "'%s' names %" PRIu32 " functions, one is needed:%s%s", word, count, text,
		count > 4 ? " ..." : "");
	free(text);
}

static void say_none(const char *command, const char *word, const struct xaudit_read_trace *trace)
{
	char *said = memory_format("no call of a function '%s' is in what was read", word);
	struct meant meant;

	meant_begin(&meant, word);
	for (uint32_t i = 0; i < xaudit_read_functions(trace); i++)
		meant_look(&meant, xaudit_read_function(trace, i)->name);
	char *whole = meant_message(&meant, said, "; `xaudit report` lists them");
	tool_error(command, "%s", whole);
	meant_end(&meant);
	free(whole);
	free(said);
}

const struct xaudit_read_function *view_find(
	const char *command, const struct xaudit_read_trace *trace, const char *word)
{
	const struct xaudit_read_function *found = NULL;
	uint32_t count = 0;
	bool by_alias = false;

	/* An alias of one function may be the name of another: the latter is meant. */
	do {
		for (uint32_t i = 0; i < xaudit_read_functions(trace); i++) {
			const struct xaudit_read_function *function = xaudit_read_function(trace, i);
			if (!view_names(word, function, by_alias))
				continue;
			found = function;
			count++;
		}
	} while (!count && (by_alias = !by_alias));
	if (!count)
		say_none(command, word, trace);
	if (count > 1)
		say_found(command, word, trace, count, by_alias);
	return count == 1 ? found : NULL;
}

void view_meet(const struct xaudit_read_trace *trace)
{
	for (uint32_t i = 0; i < xaudit_read_functions(trace); i++)
		names_meet(xaudit_read_function(trace, i)->name);
}

void view_print_call(const char *name, const char *library, const char *values, const struct show_colors *color)
{
	fputs(color->name, stdout);
	if (values)
		names_print_bare(stdout, name);
	else
		names_print(stdout, name);
	fputs(color->off, stdout);
	term_text(stdout, values ? values : "");
	printf(" %s[", color->dim);
	tool_text(stdout, tool_base(library));
	printf("]%s", color->off);
}

void view_print_name(const char *name, const char *library, const struct show_colors *color)
{
	view_print_call(name, library, NULL, color);
}

void view_print_function(const struct xaudit_read_function *function, const struct show_colors *color)
{
	view_print_name(function->name, function->object->path, color);
	fputs(srcline_wanted() ? color->dim : "", stdout);
	srcline_print(stdout, function);
	fputs(srcline_wanted() ? color->off : "", stdout);
}

void view_json_name(const char *name, const char *library)
{
	printf("\"function\":");
	json_string(stdout, name);
	names_json(stdout, name);
	printf(",\"library\":");
	json_string(stdout, library);
}

void view_json_function(const struct xaudit_read_function *function)
{
	view_json_name(function->name, function->object->path);
	srcline_json(stdout, function);
}

/* ---- numbers ---- */

void view_print_time(bool known, uint64_t ns)
{
	char buf[SHOW_TIME_SIZE];

	printf("%11s", known ? show_time_column(buf, ns) : "-");
}

const char *view_share(char buf[SHOW_TIME_SIZE], uint64_t part, uint64_t whole)
{
	if (whole)
		snprintf(buf, SHOW_TIME_SIZE, "%.1f %%", (double)part * 100 / (double)whole);
	else
		strcpy(buf, "-");
	return buf;
}

void view_print_share(uint64_t part, uint64_t whole)
{
	char buf[SHOW_TIME_SIZE];

	printf("%7s", view_share(buf, part, whole));
}

bool view_is_less(uint64_t part, uint64_t whole, uint32_t share)
{
	return (unsigned __int128)part * 1000000 < (unsigned __int128)whole * share;
}

bool view_take_share(const struct options_given *given)
{
	char *end;
	double percent = strtod(given->value, &end);

	if (end == given->value || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
		return options_wrong(given, given->row->allowed);
	*(uint32_t *)(void *)((char *)given->context + given->row->at) = (uint32_t)(percent * 10000 + 0.5);
	return true;
}
