/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/calls/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/probe_text.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/progress.h"
#include "tool/show/term/srcline.h"
#include "tool/show/term/term.h"
#include "tool/show/trace_has.h"

/* Have the traces what is asked for? Returns -1, or the exit status: then all is closed. */
static int check(struct view_options *options, const struct options_syntax *syntax)
{
	int status = trace_has_options(syntax->command, options->many.trace, options->many.traces, options->tid,
		options->from, options->to);

	return status == TOOL_OK ? -1 : view_close(options, status);
}

int view_open(struct view_options *options, const struct options_syntax *syntax, int argc, char **argv,
	const char **function, bool needed)
{
	struct many *many = &options->many;
	int status = show_begin_many(
		&options->show, syntax, argc, argv, function, needed, &many->folder, &many->traces);

	if (status >= 0)
		return status;
	options->color = show_colors(&options->show);
	if (!many_open(many, options->show.pid))
		return view_close(options, TOOL_FAILED);
	many_leave_out_twins(syntax->command, many);
	return check(options, syntax);
}

int view_open_one(struct view_options *options, const struct options_syntax *syntax, int argc, char **argv)
{
	int status;
	struct xaudit_read_trace *trace = show_begin(&options->show, syntax, argc, argv, &status);

	if (!trace)
		return status;
	options->color = show_colors(&options->show);
	options->many = (struct many){ memory_zeroed(1, sizeof(char *)),
		memory_zeroed(1, sizeof(struct xaudit_read_trace *)), 1 };
	options->many.folder[0] = options->show.dir;
	options->many.trace[0] = trace;
	return check(options, syntax);
}

int view_close(struct view_options *options, int status)
{
	functions_free(&options->functions);
	probe_rows_free(&options->probe);
	return many_close(&options->many, status);
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

static bool has_probes(struct xaudit_read_trace *trace)
{
	struct xaudit_read_process *process;

	for (uint32_t i = 0; (process = xaudit_read_process(trace, i)); i++) {
		const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);
		if (facts && facts->probes)
			return true;
	}
	return false;
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
		/* With them, what is behind --to is read, too: so they are asked for only where there are some. */
		.probes = options->probes && (!options->to || has_probes(trace)),
	};
	struct xaudit_read_error error;

	reading = trace;
	only.from = view_from(trace, options);
	only.to = view_to(trace, options);
	/* The options were checked, so only memory is left as a reason. */
	return memory_need(xaudit_read_calls(trace, &only, &error));
}

static void add_counted(struct view_counts *counts, uint32_t number, uint64_t count)
{
	if (number >= counts->functions) {
		uint32_t functions = (number + 64) * 2;

		counts->of = memory_resize(counts->of, functions, sizeof(*counts->of));
		memset(counts->of + counts->functions, 0, (functions - counts->functions) * sizeof(*counts->of));
		counts->functions = functions;
	}
	counts->of[number] += count;
}

static void take_counted(struct view_left *left, const struct xaudit_read_item *item)
{
	if (item->what == XAUDIT_READ_PROBES_COUNTED) {
		left->probes += item->count;
		return;
	}
	add_counted(&left->here, item->function->number, item->count);
	left->counted += item->count;
}

int view_next(struct xaudit_read_calls *calls, struct xaudit_read_item *item, struct view_left *left)
{
	static uint32_t count;
	uint64_t done, all;
	int what;

	while ((what = xaudit_read_next_call(calls, item)) == XAUDIT_READ_COUNTED ||
		what == XAUDIT_READ_PROBES_COUNTED)
		take_counted(left, item);
	if (what == XAUDIT_READ_END) {
		progress_end();
		show_trace_need_memory(reading);
	} else if (!(++count & 0xffff)) {
		xaudit_read_calls_done(calls, &done, &all);
		progress(done, all);
	}
	return what;
}

bool view_takes_probe(const struct view_options *options, const struct xaudit_read_item *item)
{
	uint64_t from = view_from(reading, options), to = view_to(reading, options);

	return (!options->tid || item->tid == options->tid) && item->time >= from && (!to || item->time < to);
}

void view_end(struct view_options *options, uint32_t trace, struct view_left *left)
{
	probe_rows_next(&options->probe);
	functions_take(&options->functions, options->many.trace[trace], trace);
	for (uint32_t i = 0; i < left->here.functions; i++)
		if (left->here.of[i])
			add_counted(&left->counted_of, functions_number(&options->functions, trace, i),
				left->here.of[i]);
	free(left->here.of);
	left->here = (struct view_counts){ 0 };
}

struct xaudit_read_profile *view_profile(const struct view_options *options)
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
	struct xaudit_read_profile *profile = memory_need(
		xaudit_read_profile(options->many.trace, options->many.traces, &only, &error));

	progress_end();
	return profile;
}

/* ---- what calls have no time ---- */

void view_left_free(struct view_left *left)
{
	free(left->counted_of.of);
	free(left->here.of);
}

uint64_t view_counted_of(const struct view_left *left, uint32_t function)
{
	return function < left->counted_of.functions ? left->counted_of.of[function] : 0;
}

bool view_only_counted(const char *command, const struct view_options *options, const struct view_left *left,
	uint32_t function, uint64_t calls)
{
	if (calls || !view_counted_of(left, function))
		return false;
	tool_error(command, "calls of %s were only counted: nothing is known of a single one; `xaudit report` has "
			    "their number", names_shown(view_function(options, function)->name));
	return true;
}

static uint64_t lost_events(const struct view_options *options)
{
	struct xaudit_read_process *process;
	uint64_t lost = 0;

	for (uint32_t t = 0; t < options->many.traces; t++)
		for (uint32_t i = 0; (process = xaudit_read_process(options->many.trace[t], i)); i++)
			lost += xaudit_read_process_info(process)->lost;
	return lost;
}

/* Where no switches were recorded it is known of no call, which needs no line. */
static uint64_t cpu_unknown(const struct view_options *options, const struct view_left *left)
{
	return many_have_sched(&options->many) ? left->no_cpu : 0;
}

static bool is_coarse(const struct view_options *options)
{
	bool coarse = false;

	for (uint32_t t = 0; t < options->many.traces; t++)
		coarse |= xaudit_read_trace_info(options->many.trace[t])->coarse != 0;
	return coarse;
}

bool view_has_left(const struct view_options *options, const struct view_left *left)
{
	return left->no_end || left->points || left->counted || left->probes || cpu_unknown(options, left) ||
	       lost_events(options) || is_coarse(options);
}

void view_say_left(const struct view_options *options, const struct view_left *left)
{
	const struct show_colors *color = options->color;
	uint64_t lost = lost_events(options);

	if (lost)
		printf("%s%" PRIu64 " event%s lost%s\n", color->warn, lost, lost == 1 ? " was" : "s were", color->off);
	if (left->no_end == 1)
		puts("1 call has no end in the trace: it has no time, but those in it have");
	else if (left->no_end)
		printf("%" PRIu64 " calls have no end in the trace: they have no time, but those in them have\n",
			left->no_end);
	show_points(left->points);
	show_counted(left->counted);
	if (left->probes)
		printf("%" PRIu64 " event%s of probes %s only counted: nothing is known of a single one\n",
			left->probes, show_s(left->probes), left->probes == 1 ? "was" : "were");
	if (cpu_unknown(options, left))
		show_cpu_unknown(left->no_cpu);
	for (uint32_t t = 0; t < options->many.traces; t++)
		show_say_coarse_trace(options->many.trace[t], "");
}

void view_json_left(const struct view_options *options, const struct view_left *left)
{
	printf("\"lost\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"points\":%" PRIu64 ",\"counted\":%" PRIu64,
		lost_events(options), left->no_end, left->points, left->counted);
	if (left->probes)
		printf(",\"probes_counted\":%" PRIu64, left->probes);
	if (cpu_unknown(options, left))
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

/* A probe of that name, by its number; *count: how many there are. */
static uint32_t find_probe(const struct view_options *options, const char *word, uint32_t *count)
{
	uint32_t found = FUNCTIONS_NONE;

	for (uint32_t i = 0; i < options->probe.rows; i++) {
		if (!probe_named(word, options->probe.row[i]))
			continue;
		found = PROBE_ROWS_FIRST + i;
		++*count;
	}
	return found;
}

/* Says of which libraries probes have the name. */
static void say_found_probes(const char *command, const struct view_options *options, const char *word, uint32_t count)
{
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (uint32_t i = 0, told = 0; i < options->probe.rows && told < 4; i++) {
		const struct xaudit_read_probe *probe = options->probe.row[i];
		if (probe_named(word, probe))
			fprintf(to, "%s %s@%s", told++ ? "," : "", probe->name, tool_base(probe->object->path));
	}
	if (fclose(to))
		memory_failed();
	tool_error(command, "'%s' names %" PRIu32 " probes, one is needed:%s%s", word, count, text,
		count > 4 ? " ..." : "");
	free(text);
}

static void say_found(
	const char *command, const struct view_options *options, const char *word, uint32_t count, bool by_alias)
{
	char *text = NULL;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	for (uint32_t i = 0, told = 0; i < options->functions.functions && told < 4; i++) {
		const struct xaudit_read_function *function = view_function(options, i);
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

uint32_t view_find(const char *command, const struct view_options *options, const char *word)
{
	uint32_t count = 0, found = FUNCTIONS_NONE;
	bool by_alias = false;

	/* An alias of one function may be the name of another: the latter is meant. */
	do {
		for (uint32_t i = 0; i < options->functions.functions; i++) {
			if (!view_names(word, view_function(options, i), by_alias))
				continue;
			found = i;
			count++;
		}
	} while (!count && (by_alias = !by_alias));
	if (count > 1)
		say_found(command, options, word, count, by_alias);
	if (count)
		return count == 1 ? found : FUNCTIONS_NONE;
	found = find_probe(options, word, &count);
	if (!count && !options->probes &&
		trace_has_probe(command, word, options->many.trace, options->many.traces))
		return FUNCTIONS_NONE;
	if (!count)
		trace_has_no_function(command, word, options->many.trace, options->many.traces,
			options->from || options->to);
	if (count > 1)
		say_found_probes(command, options, word, count);
	return count == 1 ? found : FUNCTIONS_NONE;
}

void view_meet(const struct view_options *options)
{
	for (uint32_t i = 0; i < options->functions.functions; i++)
		names_meet(view_function(options, i)->name);
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

void view_print_probe(const struct xaudit_read_probe *probe, const struct show_colors *color)
{
	printf("%sprobe %s%s", color->dim, color->off, color->name);
	term_text(stdout, probe->name);
	printf("%s %s[", color->off, color->dim);
	tool_text(stdout, tool_base(probe->object->path));
	printf("]%s", color->off);
}

void view_print_number(const struct view_options *options, uint32_t number, const struct show_colors *color)
{
	if (probe_rows_has(number))
		view_print_probe(probe_rows_probe(&options->probe, number), color);
	else
		view_print_function(view_function(options, number), color);
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

void view_json_number(const struct view_options *options, uint32_t number)
{
	if (!probe_rows_has(number)) {
		view_json_function(view_function(options, number));
		return;
	}
	const struct xaudit_read_probe *probe = probe_rows_probe(&options->probe, number);
	fputs("\"probe\":", stdout);
	json_string(stdout, probe->name);
	fputs(",\"library\":", stdout);
	json_string(stdout, probe->object->path);
}

void view_print_folder(const struct view_options *options, uint32_t trace)
{
	if (options->many.traces < 2)
		return;
	fputs(" of ", stdout);
	term_text(stdout, options->many.folder[trace]);
}

void view_json_folder(const struct view_options *options, uint32_t trace)
{
	if (options->many.traces < 2)
		return;
	fputs(",\"folder\":", stdout);
	json_string(stdout, options->many.folder[trace]);
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
