/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/event_text.h"
#include "tool/show/report/by_process.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/term/progress.h"

struct xaudit_read_profile *report_count_some(const struct report *report, int by, uint32_t first, uint32_t traces)
{
	struct xaudit_read_profile_options options = {
		.size = sizeof(options),
		.by = by,
		.apart = report->apart,
		.tid = report->tid,
		.from = report->from,
		.to = report->to,
		.jobs = report->jobs ? report->jobs : XAUDIT_READ_ALL_CPUS,
		.progress = progress_told,
	};
	struct xaudit_read_profile *profile =
		memory_need(xaudit_read_profile(report->trace + first, traces, &options, NULL));

	progress_end();
	return profile;
}

struct xaudit_read_profile *report_count(struct report *report, int by)
{
	struct xaudit_read_profile *profile = report_count_some(report, by, 0, report->traces);

	left_add_profile(&report->left, xaudit_read_profile_info(profile));
	return profile;
}

/* Rows come in an order that does not depend on the trace, and are in one array. */
static int compare(const void *row, const void *other)
{
	return row < other ? -1 : row > other;
}

void columns_row(const struct xaudit_read_row *row, struct report_line *line)
{
	columns_unknown(line);
	line->row = row;
	line->value[COLUMN_CALLS] = row->calls;
	line->value[COLUMN_COUNTED] = row->counted;
	line->value[COLUMN_TOTAL] = row->total;
	line->value[COLUMN_SELF] = row->self;
	if (!row->timed)
		return;
	line->value[COLUMN_CPU] = row->cpu;
	line->value[COLUMN_CPU_SELF] = row->cpu_self;
	line->value[COLUMN_MIN] = row->min;
	line->value[COLUMN_AVG] = row->sum / row->timed;
	line->value[COLUMN_DEVIATION] = (uint64_t)(sqrt(row->variance) + 0.5);
	line->value[COLUMN_MAX] = row->max;
	line->value[COLUMN_SELF_AVG] = row->self / row->timed;
}

static void fill(
	const struct xaudit_read_profile *profile, const struct xaudit_read_row *row, struct report_line *line)
{
	columns_row(row, line);
	if (!row->timed)
		return;
	line->value[COLUMN_P50] = xaudit_read_profile_percentile(profile, row, 50);
	line->value[COLUMN_P90] = xaudit_read_profile_percentile(profile, row, 90);
	line->value[COLUMN_P99] = xaudit_read_profile_percentile(profile, row, 99);
	line->value[COLUMN_P999] = xaudit_read_profile_percentile(profile, row, 99.9);
}

static void sort_lines(const struct report *report, struct report_line *line, uint32_t lines)
{
	columns_sort(line, lines, report->sort == COLUMNS ? COLUMN_TOTAL : (enum report_column)report->sort, compare);
}

struct report_line *report_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count)
{
	uint32_t rows = *count = xaudit_read_profile_info(profile)->rows;
	struct report_line *line = memory_zeroed(rows + 1, sizeof(*line));

	for (uint32_t i = 0; i < rows; i++)
		fill(profile, xaudit_read_profile_row(profile, i), &line[i]);
	sort_lines(report, line, rows);
	return line;
}

/* ---- table ---- */

static void print_name(const struct report *report, const struct xaudit_read_row *row)
{
	const struct show_colors *color = report->color;
	char buf[SHOW_TIME_SIZE];

	if (report_adds_rows(report)) {
		const char *none = report->by == REPORT_BY_PROCESS ? "" : "(not recorded)";
		fputs(row->name ? color->name : color->dim, stdout);
		term_text(stdout, row->name ? row->name : none);
		fputs(color->off, stdout);
	} else if (report->by == XAUDIT_READ_BY_THREAD) {
		printf("%" PRIu32 " %s", row->tid, color->name);
		tool_text(stdout, row->name ? row->name : "");
		fputs(color->off, stdout);
	} else {
		report_print_function(report, row->name, row->library);
	}
	if (report->apart || report->by == XAUDIT_READ_BY_THREAD || report->by == REPORT_BY_PROCESS)
		report_print_process(report, report->folder[row->trace], row->pid);
	if (row->throttled && report->by == XAUDIT_READ_BY_FUNCTION)
		printf(" %s(times until %s, then only counted)%s", color->warn, show_time(buf, row->throttled_after),
			color->off);
	putchar('\n');
}

/* A second table, of custom events, if there are any. */
static void print_events(const struct report *report, const struct xaudit_read_profile *profile)
{
	const struct show_colors *color = report->color;
	uint32_t customs = xaudit_read_profile_info(profile)->customs;

	if (!customs)
		return;
	printf("\n%s%10s  %11s  %s%s\n==========  ===========  ====================\n", color->head, "Events", "Bytes",
		"Type", color->off);
	for (uint32_t i = 0; i < customs && !show_output_broken(); i++) {
		const struct xaudit_read_custom *row = xaudit_read_profile_custom(profile, i);
		printf("%10" PRIu64 "  %11" PRIu64 "  %s", row->count, row->bytes, color->name);
		event_type(stdout, row->type, row->number);
		printf("%s\n", color->off);
	}
}

/* How often in a second threads came there, from the first time to the last; negative: not known. */
static double rate(const struct xaudit_read_probe_row *row)
{
	uint64_t timed = row->count - row->counted;

	return timed > 1 && row->last > row->first ? (double)(timed - 1) * 1e9 / (double)(row->last - row->first) : -1;
}

/* A table of probes, if there are any. */
static void print_probes(const struct report *report, const struct xaudit_read_profile *profile)
{
	const struct show_colors *color = report->color;
	uint32_t probes = xaudit_read_profile_info(profile)->probes;

	if (!probes)
		return;
	printf("\n%s%10s  %13s  %s%s\n==========  =============  ====================\n", color->head, "Events",
		"Per second", "Probe", color->off);
	for (uint32_t i = 0; i < probes && !show_output_broken(); i++) {
		const struct xaudit_read_probe_row *row = xaudit_read_profile_probe(profile, i);
		printf("%10" PRIu64, row->count);
		if (rate(row) < 0)
			printf("  %13s", "-");
		else
			printf("  %13.1f", rate(row));
		printf("  %s", color->name);
		term_text(stdout, row->name);
		printf("%s  %s", color->off, color->dim);
		tool_text(stdout, tool_base(row->library));
		printf("%s\n", color->off);
	}
}

static void print_table(const struct report *report, const struct xaudit_read_profile *profile,
	const struct report_line *line, uint32_t lines)
{
	static const char *const what[] = { "Function", "Library", "Thread", "Process",
		[REPORT_BY_HOST] = "Host", "Program", "Command" };

	columns_heads(&report->columns, what[report->by], report->color);
	for (uint32_t i = 0; i < lines && report->by == XAUDIT_READ_BY_FUNCTION; i++)
		names_meet(((const struct xaudit_read_row *)line[i].row)->name);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		columns_line(&report->columns, &line[i]);
		print_name(report, line[i].row);
	}
	print_events(report, profile);
	print_probes(report, profile);
	left_print(report);
}

/* ---- JSON ---- */

/* Writes nothing if there are no custom events. */
static void json_events(const struct xaudit_read_profile *profile)
{
	const struct xaudit_read_profile_info *info = xaudit_read_profile_info(profile);

	if (info->customs)
		printf(",\"custom_events\":[");
	for (uint32_t i = 0; i < info->customs && !show_output_broken(); i++) {
		const struct xaudit_read_custom *row = xaudit_read_profile_custom(profile, i);
		printf("%s\n{\"type\":", i ? "," : "");
		json_string(stdout, row->type);
		if (!row->type)
			printf(",\"type_number\":%" PRIu32, row->number);
		printf(",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", row->count, row->bytes);
	}
	if (info->customs)
		printf("\n]");
	if (info->customs_unfinished)
		printf(",\"custom_unfinished\":%" PRIu64, info->customs_unfinished);
}

/* Likewise. */
static void json_probes(const struct xaudit_read_profile *profile)
{
	uint32_t probes = xaudit_read_profile_info(profile)->probes;

	if (probes)
		printf(",\"probes\":[");
	for (uint32_t i = 0; i < probes && !show_output_broken(); i++) {
		const struct xaudit_read_probe_row *row = xaudit_read_profile_probe(profile, i);
		printf("%s\n{\"probe\":", i ? "," : "");
		json_string(stdout, row->name);
		printf(",\"library\":");
		json_string(stdout, row->library);
		printf(",\"count\":%" PRIu64 ",\"counted\":%" PRIu64 ",\"valued\":%" PRIu64 ",\"per_second\":",
			row->count, row->counted, row->valued);
		if (rate(row) < 0)
			printf("null");
		else
			printf("%.3f", rate(row));
		if (row->count > row->counted)
			printf(",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64, row->first, row->last);
		putchar('}');
	}
	if (probes)
		printf("\n]");
}

static void json_name(const struct report *report, const struct xaudit_read_row *row)
{
	bool by_function = report->by == XAUDIT_READ_BY_FUNCTION, by_library = report->by == XAUDIT_READ_BY_LIBRARY;

	if (report->by >= REPORT_BY_HOST) {
		static const char *const key[] = { "host", "program", "command" };

		printf("\"%s\":", key[report->by - REPORT_BY_HOST]);
		json_string(stdout, row->name);
		putchar(',');
		return;
	}
	if (by_function) {
		report_json_function(row->name, row->library);
	} else if (by_library) {
		printf("\"library\":");
		json_string(stdout, row->library);
	}
	if (report->apart || !(by_function || by_library)) {
		fputs(by_function || by_library ? "," : "", stdout);
		report_json_process(report, report->folder[row->trace], row->pid);
	}
	if (report->by == XAUDIT_READ_BY_THREAD)
		printf(",\"tid\":%" PRIu32, row->tid);
	if (!(by_function || by_library)) {
		printf(",\"name\":");
		json_string(stdout, row->name);
	}
	putchar(',');
}

static void print_json(const struct report *report, const struct xaudit_read_profile *profile,
	const struct report_line *line, uint32_t lines)
{
	static const char *const list[] = { "functions", "libraries", "threads", "processes",
		[REPORT_BY_HOST] = "hosts", "programs", "commands" };

	putchar('{');
	left_json_begin(&report->left);
	printf(",\"%s\":[", list[report->by]);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct xaudit_read_row *row = line[i].row;

		printf("%s\n{", i ? "," : "");
		json_name(report, row);
		columns_json(&report->columns, &line[i]);
		if (report->sched && row->cpu == XAUDIT_READ_UNKNOWN)
			printf(",\"cpu_unknown\":%" PRIu64, row->cpu_unknown);
		if (report->by == XAUDIT_READ_BY_FUNCTION && row->throttled)
			printf(",\"throttled_ns\":%" PRIu64, row->throttled);
		putchar('}');
	}
	printf("\n]");
	left_json_end(&report->left);
	json_events(profile);
	json_probes(profile);
	puts("}");
}

/* ---- CSV ---- */

static void csv_name_heads(struct report *report)
{
	static const char *const head[] = { [XAUDIT_READ_BY_THREAD] = "tid,name", [REPORT_BY_PROCESS] = "name",
		[REPORT_BY_HOST] = "host", "program", "command" };

	report_csv_what_heads(report);
	if (report->apart || report->by == XAUDIT_READ_BY_THREAD || report->by == REPORT_BY_PROCESS)
		report_csv_process_heads(report);
	if (head[report->by])
		csv_heads(&report->csv, head[report->by]);
}

static void csv_name(struct report *report, const struct xaudit_read_row *row)
{
	if (report->by == XAUDIT_READ_BY_FUNCTION)
		report_csv_function(report, row->name, row->library);
	else if (report->by == XAUDIT_READ_BY_LIBRARY)
		csv_text(&report->csv, row->library);
	if (report->apart || report->by == XAUDIT_READ_BY_THREAD || report->by == REPORT_BY_PROCESS)
		report_csv_process(report, report->folder[row->trace], row->pid);
	if (report->by == XAUDIT_READ_BY_THREAD)
		csv_number(&report->csv, row->tid);
	if (report->by > XAUDIT_READ_BY_LIBRARY)
		csv_text(&report->csv, row->name);
}

static void print_csv(struct report *report, const struct report_line *line, uint32_t lines)
{
	csv_name_heads(report);
	columns_csv_heads(&report->columns, "", &report->csv);
	csv_end(&report->csv);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		csv_name(report, line[i].row);
		columns_csv(&report->columns, &line[i], &report->csv);
		csv_end(&report->csv);
	}
}

int report_profile(struct report *report)
{
	static const uint8_t usual[] = { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF, COLUMN_MIN, COLUMN_P50, COLUMN_P99,
		COLUMN_MAX };
	uint32_t lines;

	if (report->by == REPORT_BY_DEFAULT)
		report->by = XAUDIT_READ_BY_FUNCTION;
	report_columns(report, usual, sizeof(usual));

	bool adds = report_adds_rows(report);
	struct xaudit_read_profile *profile = report_count(report, adds ? report_adds_rows_of(report) : report->by);
	struct report_line *line;
	void *rows = NULL;
	if (adds) {
		line = report_process_lines(report, profile, &lines, &rows);
		sort_lines(report, line, lines);
	} else {
		line = report_lines(report, profile, &lines);
	}
	if (report->options.json == REPORT_CSV)
		print_csv(report, line, lines);
	else if (report->options.json)
		print_json(report, profile, line, lines);
	else
		print_table(report, profile, line, lines);
	free(line);
	free(rows);
	xaudit_read_profile_close(profile);
	return TOOL_OK;
}
