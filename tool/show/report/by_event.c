/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/by_event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace.h"
#include "tool/base/hash.h"
#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/event_text.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/nested.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"
#include "tool/show/report/tally_print.h"
#include "tool/show/values.h"

#define VALUES_MOST 100000 /* what is more becomes one row */

/* Numbers of values that no event has: their text is NULL, and `library` says what they are. */
enum special { NONE = 1, TOO_SHORT, OTHERS };

/* What is in force in a thread of the trace at hand. */
struct held {
	const struct xaudit_read_process *process;
	uint32_t tid;
	uint32_t value;
	bool counts; /* it came when calls are counted */
	uint64_t since, last; /* ns: when it came, and the last moment that is known of the thread */
};

/* A value. */
struct valued {
	uint64_t events;
	struct spread held;
};

struct by_event {
	struct report *report;
	char *type; /* without the field */
	const char *field; /* NULL: all of the data */
	const struct event_format *format; /* with a field */
	char *probe;	   /* what is before the last colon; NULL: there is none, or a field */
	const char *value; /* behind that: of its values */
	bool some, some_end; /* an event of the type, one that --event-end names, is in the trace */

	uint32_t trace; /* at hand, and its times, ns; to: 0: no end */
	uint64_t from, to;
	struct held *held;
	uint32_t helds;
	struct hash by_thread; /* of held[]'s process and thread */
	struct held *recent;

	struct catalog values, names, processes; /* of a process: pid and folder */
	struct valued *valued; /* by number of the value */
	uint32_t valued_room;
	struct nested nested;
	struct tallies rows; /* key: the value, the function or library, or 0, and the process, or 0 */
};

/* ---- values ---- */

static struct valued *valued(struct by_event *by, uint32_t value)
{
	if (value >= by->valued_room) {
		uint32_t room = (value + 1) * 2;
		by->valued = memory_resize(by->valued, room, sizeof(*by->valued));
		memset(by->valued + by->valued_room, 0, (room - by->valued_room) * sizeof(*by->valued));
		by->valued_room = room;
	}
	return &by->valued[value];
}

/* What is in force since a thread came to a probe: one of its values, or all; NULL: it does not have that one. */
static char *text_of_probe(const struct by_event *by, const struct xaudit_read_item *item)
{
	char *text;
	size_t size;

	if (by->value && strcmp(item->probe->name, by->type))
		return values_one(item->values, by->value);
	FILE *to = memory_need(open_memstream(&text, &size));
	if (item->values)
		values_list(to, item->values, UINT32_MAX);
	if (fclose(to))
		memory_failed();
	return text;
}

static char *text_of_custom(const struct by_event *by, const struct xaudit_read_item *item)
{
	uint8_t data[TRACE_CUSTOM_MAX + 1]; /* with a zero byte behind it */
	size_t size = item->data_size <= TRACE_CUSTOM_MAX ? item->data_size : TRACE_CUSTOM_MAX;

	if (size)
		memcpy(data, item->data, size);
	data[size] = '\0';
	return by->field ? event_format_value(by->format, by->field, data, size) : event_value(data, size);
}

static uint32_t value_of(struct by_event *by, const struct xaudit_read_item *item)
{
	char *text = item->what == XAUDIT_READ_PROBE ? text_of_probe(by, item) : text_of_custom(by, item);

	if (!text)
		return TOO_SHORT;
	uint32_t value = by->values.used < VALUES_MOST + OTHERS + 1 ? catalog_number(&by->values, text, NULL) :
							   catalog_find(&by->values, text, NULL);
	free(text);
	return value ? value : OTHERS;
}

/* ---- what is in force ---- */

static void end_held(struct by_event *by, struct held *held)
{
	if (held->counts)
		spread_add(&valued(by, held->value)->held, held->last - held->since);
}

static struct held *held_by(struct by_event *by, const struct xaudit_read_item *item)
{
	struct held *held = by->recent;

	if (held && held->process == item->process && held->tid == item->tid)
		return held;
	uint32_t hash = hash_key((uintptr_t)item->process, item->tid);
	uint32_t found = HASH_FIND(
		i, &by->by_thread, hash, by->held[i].process == item->process && by->held[i].tid == item->tid);
	if (found != HASH_NONE)
		return by->recent = &by->held[found];
	by->held = memory_grow(by->held, by->helds, sizeof(*by->held));
	memory_hash(&by->by_thread, hash, by->helds);
	held = &by->held[by->helds++];
	*held = (struct held){ .process = item->process, .tid = item->tid, .value = NONE };
	return by->recent = held;
}

static void end_all_held(struct by_event *by)
{
	for (uint32_t i = 0; i < by->helds; i++)
		end_held(by, &by->held[i]);
	by->recent = NULL;
	by->helds = 0;
	hash_clear(&by->by_thread);
}

static bool is_type(const struct xaudit_read_item *item, const char *type)
{
	char number[16];

	if (!type)
		return false;
	if (item->what == XAUDIT_READ_PROBE)
		return !strcmp(item->probe->name, type);
	if (item->type && !strcmp(item->type, type))
		return true;
	snprintf(number, sizeof(number), "%" PRIu32, item->type_number);
	return !strcmp(number, type);
}

static void take_custom(struct by_event *by, const struct xaudit_read_item *item)
{
	struct held *held = held_by(by, item);
	bool is = is_type(item, by->type) || (item->what == XAUDIT_READ_PROBE && is_type(item, by->probe));
	bool ends = is_type(item, by->report->event_end);

	held->last = item->time;
	by->some |= is;
	by->some_end |= ends;
	if (!is && !ends)
		return;
	uint32_t value = is ? value_of(by, item) : NONE;
	/* Of several probes of one name not all need have the value that is asked for. */
	if (value == TOO_SHORT && item->what == XAUDIT_READ_PROBE && !ends)
		return;
	end_held(by, held);
	held->value = value;
	held->counts = is && item->time >= by->from && (!by->to || item->time < by->to);
	held->since = item->time;
	valued(by, held->value)->events += held->counts;
}

/* ---- calls ---- */

static uint32_t process_number(struct by_event *by, struct xaudit_read_process *process)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRIu32, xaudit_read_process_info(process)->pid);
	return catalog_number(&by->processes, pid, by->report->folder[by->trace]);
}

static uint32_t pid_of(const struct by_event *by, uint32_t process)
{
	return (uint32_t)strtoul(by->processes.name[process].name, NULL, 10);
}

static uint32_t row_of(struct by_event *by, const struct xaudit_read_item *item)
{
	const struct xaudit_read_function *function = item->call->function;
	const struct report *report = by->report;
	uint32_t what = 0, process = 0;

	if (report->by == XAUDIT_READ_BY_FUNCTION)
		what = catalog_function(&by->names, function);
	else if (report->by == XAUDIT_READ_BY_LIBRARY)
		what = catalog_number(&by->names, NULL, function->object->path);
	if (report->apart)
		process = process_number(by, item->process);
	return tallies_find(&by->rows, held_by(by, item)->value, what, process);
}

static void take_call(struct by_event *by, const struct xaudit_read_item *item)
{
	const struct xaudit_read_call *call = item->call;
	uint64_t time = tally_is_timed(call) ? call->ticks.self + call->ticks.children : XAUDIT_READ_UNKNOWN, total;
	uint32_t row = nested_end(&by->nested, call, time, &total);

	/* Of a call that is recorded at its entry only, the beginning is not told. */
	if (!row)
		row = row_of(by, item); /* may move the rows */
	tallies_add(&by->rows, row, call, total);
}

static void begin(void *user, uint32_t trace)
{
	struct by_event *by = user;
	const struct report *report = by->report;
	uint64_t start = xaudit_read_trace_info(report->trace[trace])->start;

	end_all_held(by);
	nested_clear(&by->nested);
	by->trace = trace;
	catalog_next_trace(&by->names);
	by->from = report->from ? start + report->from : 0;
	by->to = report->to ? start + report->to : 0;
}

static void take(void *user, const struct xaudit_read_item *item)
{
	struct by_event *by = user;

	switch (item->what) {
	case XAUDIT_READ_CUSTOM: /* those of all threads come */
	case XAUDIT_READ_PROBE:
		if (!by->report->tid || by->report->tid == item->tid)
			take_custom(by, item);
		break;
	case XAUDIT_READ_ENTER:
		nested_enter(&by->nested, item->call, row_of(by, item));
		held_by(by, item)->last = item->time;
		break;
	case XAUDIT_READ_CALL:
		take_call(by, item);
		held_by(by, item)->last = item->time;
		break;
	}
}

/* ---- printing ---- */

/* What a row is called, without the process. */
static const char *special_text(const struct catalog_name *name)
{
	return name->name ? NULL : name->library;
}

static const struct by_event *compared;

static int compare(const void *row, const void *other)
{
	const struct tally *x = row, *y = other;
	int order = catalog_compare(&compared->values, x->key[0], y->key[0]);

	if (!order && x->key[1] != y->key[1])
		order = catalog_compare(&compared->names, x->key[1], y->key[1]);
	if (!order && x->key[2] != y->key[2])
		order = catalog_compare(&compared->processes, x->key[2], y->key[2]);
	return order;
}

static void print_value(const struct by_event *by, uint32_t value)
{
	const struct show_colors *color = by->report->color;
	const struct catalog_name *name = &by->values.name[value];

	if (name->name && *name->name) {
		fputs(color->name, stdout);
		event_value_text(stdout, name->name);
	} else {
		printf("%s(%s)", color->dim, name->name ? "empty" : special_text(name));
	}
	fputs(color->off, stdout);
}

static void print_line(const struct by_event *by, const struct report_line *line)
{
	const struct report *report = by->report;
	const struct tally *tally = line->row;
	const struct catalog_name *name = &by->names.name[tally->key[1]];

	columns_line(&report->columns, line);
	print_value(by, tally->key[0]);
	if (tally->key[1]) {
		fputs(": ", stdout);
		report_print_function(report, name->name, name->library);
	}
	if (tally->key[2])
		report_print_process(report, by->processes.name[tally->key[2]].library, pid_of(by, tally->key[2]));
	putchar('\n');
}

static void json_line(const struct by_event *by, const struct report_line *line)
{
	const struct report *report = by->report;
	const struct tally *tally = line->row;
	const struct catalog_name *value = &by->values.name[tally->key[0]], *name = &by->names.name[tally->key[1]];

	printf("{\"value\":");
	json_string(stdout, value->name);
	if (special_text(value))
		printf(",\"special\":\"%s\"", special_text(value));
	putchar(',');
	report_json_what(report, tally->key[1] ? name : NULL);
	if (tally->key[2]) {
		report_json_process(report, by->processes.name[tally->key[2]].library, pid_of(by, tally->key[2]));
		putchar(',');
	}
	columns_json(&report->columns, line);
	putchar('}');
}

static void csv_lines(struct by_event *by, const struct report_line *line, uint32_t lines)
{
	struct report *report = by->report;
	struct csv *csv = &report->csv;

	csv_heads(csv, "value,special");
	report_csv_what_heads(report);
	if (report->apart)
		report_csv_process_heads(report);
	columns_csv_heads(&report->columns, "", csv);
	csv_end(csv);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct tally *tally = line[i].row;
		const struct catalog_name *value = &by->values.name[tally->key[0]];
		const char *folder = by->processes.used ? by->processes.name[tally->key[2]].library : NULL;
		csv_text(csv, value->name);
		csv_text(csv, special_text(value));
		report_csv_what(report, &by->names.name[tally->key[1]]);
		if (report->apart)
			report_csv_process(report, folder, pid_of(by, tally->key[2]));
		columns_csv(&report->columns, &line[i], csv);
		csv_end(csv);
	}
}

/* The values alone: how often each came, and how long it was in force. */
static int by_time(const void *a, const void *b)
{
	const struct valued *x = &compared->valued[*(const uint32_t *)a], *y = &compared->valued[*(const uint32_t *)b];
	double p = spread_sum(&x->held), q = spread_sum(&y->held);

	if (p < q || p > q)
		return p > q ? -1 : 1;
	return catalog_compare(&compared->values, *(const uint32_t *)a, *(const uint32_t *)b);
}

static uint32_t *sorted_values(struct by_event *by, uint32_t *count)
{
	uint32_t *value = memory_zeroed(by->values.used + 1, sizeof(*value));

	*count = 0;
	for (uint32_t i = 1; i < by->values.used; i++)
		if (valued(by, i)->events)
			value[(*count)++] = i;
	if (*count)
		qsort(value, *count, sizeof(*value), by_time);
	return value;
}

static void print_values(struct by_event *by, const uint32_t *value, uint32_t values)
{
	static const double percent[] = { 50, 99, 100 };
	const struct show_colors *color = by->report->color;
	char buf[SHOW_TIME_SIZE];

	printf("\n%s%10s  %11s  %11s  %11s  %11s  %s%s\n", color->head, "Events", "In force", "Median", "P99", "Max",
		"Value", color->off);
	printf("==========  ===========  ===========  ===========  ===========  ====================\n");
	for (uint32_t i = 0; i < values && !show_output_broken(); i++) {
		const struct valued *one = &by->valued[value[i]];
		printf("%10" PRIu64 "  %11s", one->events, show_time_column(buf, (uint64_t)spread_sum(&one->held)));
		for (unsigned k = 0; k < 3; k++)
			printf("  %11s", show_time_column(buf, spread_percentile(&one->held, percent[k])));
		printf("  ");
		print_value(by, value[i]);
		putchar('\n');
	}
}

/* Returns TOOL_FAILED. */
static int say_no_events(const struct by_event *by)
{
	tool_error("report", "no event of type '%s', and no probe of that name, is in the trace%s", by->type,
		strchr(by->type, ':') ? "; a field needs --event-format" : "");
	return TOOL_FAILED;
}

/* A typing error would look like requests that never end. */
static void print_no_end(const char *type)
{
	fputs("\nno event of type '", stdout);
	tool_text(stdout, type);
	puts("' is in the trace: nothing was ended by --event-end");
}

static void json_values(struct by_event *by, const uint32_t *value, uint32_t values)
{
	printf("\n],\"values\":[");
	for (uint32_t i = 0; i < values && !show_output_broken(); i++) {
		const struct catalog_name *name = &by->values.name[value[i]];
		const struct valued *one = &by->valued[value[i]];
		printf("%s\n{\"value\":", i ? "," : "");
		json_string(stdout, name->name);
		if (special_text(name))
			printf(",\"special\":\"%s\"", special_text(name));
		printf(",\"events\":%" PRIu64 ",\"in_force_ns\":%.0f", one->events, spread_sum(&one->held));
		printf(",\"in_force_p50_ns\":%" PRIu64 ",\"in_force_p99_ns\":%" PRIu64 ",\"in_force_max_ns\":%" PRIu64
		       "}",
			spread_percentile(&one->held, 50), spread_percentile(&one->held, 99),
			spread_percentile(&one->held, 100));
	}
	printf("\n]");
}

static void print(struct by_event *by)
{
	static const char *const heads[] = { "Value", "Value: Function", "Value: Library" };
	struct report *report = by->report;
	uint32_t lines, values, *value;

	compared = by;
	report_meet(&by->names);
	struct report_line *line = tally_lines(report, &by->rows, compare, &lines);
	tally_columns(report, report->by == REPORT_BY_DEFAULT);
	if (report->options.json == REPORT_CSV) {
		csv_lines(by, line, lines);
		free(line);
		return;
	}
	value = sorted_values(by, &values);
	if (report->options.json) {
		putchar('{');
		left_json_begin(&report->left);
		printf(",\"rows\":[");
	} else {
		columns_heads(&report->columns, heads[report->by + 1], report->color);
	}
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		if (!report->options.json) {
			print_line(by, &line[i]);
			continue;
		}
		printf("%s\n", i ? "," : "");
		json_line(by, &line[i]);
	}
	if (report->options.json) {
		json_values(by, value, values);
		left_json_end(&report->left);
		puts("}");
	} else {
		if (values)
			print_values(by, value, values);
		if (by->report->event_end && !by->some_end)
			print_no_end(by->report->event_end);
		left_print(report);
	}
	free(value);
	free(line);
}

int report_by_event(struct report *report)
{
	struct by_event by = { .report = report };
	const struct report_calls calls = {
		.enters = true, .customs = true, .probes = true, .values = true, .begin = begin, .take = take,
		.rows = &by.rows, .user = &by
	};
	const char *colon = strrchr(report->by_event, ':');
	int status = TOOL_OK;

	/* A name of a type may have a colon. What stands before the last one has a format, if a field is meant. */
	by.type = memory_text(report->by_event, strlen(report->by_event));
	if (colon) {
		by.type[colon - report->by_event] = '\0';
		by.format = event_format_find(&report->formats, by.type, UINT32_MAX);
		by.field = by.format ? colon + 1 : NULL;
		by.type[colon - report->by_event] = by.format ? '\0' : ':';
		if (!by.format) {
			by.probe = memory_text(report->by_event, (size_t)(colon - report->by_event));
			by.value = colon + 1;
		}
	}
	if (by.field && !event_format_has(by.format, by.field)) {
		tool_error("report", "the format of %s has no field '%s'", by.type, by.field);
		free(by.type);
		return TOOL_USAGE;
	}
	/* Their numbers are known: enum special. */
	catalog_number(&by.values, NULL, "none");
	catalog_number(&by.values, NULL, "too short");
	catalog_number(&by.values, NULL, "others");
	report_each(report, &calls);
	end_all_held(&by);
	if (by.some)
		print(&by);
	else
		status = say_no_events(&by);
	for (uint32_t i = 0; i < by.valued_room; i++)
		spread_free(&by.valued[i].held);
	free(by.valued);
	nested_clear(&by.nested);
	free(by.type);
	free(by.probe);
	tallies_free(&by.rows);
	free(by.held);
	hash_free(&by.by_thread);
	catalog_free(&by.values);
	catalog_free(&by.names);
	catalog_free(&by.processes);
	return status;
}
