/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/hist.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/report/bars.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/profile.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/term/meant.h"

#define WIDTH 40 /* of the longest bar */

static void print_bars(const struct report *report, const struct bars *bars)
{
	static const char bar[] = "########################################";
	const struct show_colors *color = report->color;
	char from[SHOW_TIME_SIZE], to[SHOW_TIME_SIZE];

	printf("%s%11s  %11s  %10s  Percent%s\n", color->head, "From", "To", "Calls", color->off);
	printf("===========  ===========  ==========  =======\n");
	for (uint32_t i = 0; i < bars->rows && !show_output_broken(); i++) {
		const struct bars_row *row = &bars->row[i];
		double percent = 100 * (double)row->count / (double)bars->count;
		printf("%11s  %11s  %10" PRIu64 "  %5.1f %%", show_time_column(from, row->from),
			show_time_column(to, row->to), row->count, percent);
		if (row->count)
			printf("  %s%.*s%s", color->name, (int)bars_length(bars, row, WIDTH), bar, color->off);
		putchar('\n');
	}
}

static void json_bars(const struct bars *bars)
{
	printf(",\"histogram\":[");
	for (uint32_t i = 0; i < bars->rows && !show_output_broken(); i++)
		printf("%s\n {\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",\"calls\":%" PRIu64 "}", i ? "," : "",
			bars->row[i].from, bars->row[i].to, bars->row[i].count);
	printf("\n]");
}

static void csv_bars(struct report *report, const struct xaudit_read_row *row, const struct bars *bars)
{
	struct csv *csv = &report->csv;

	for (uint32_t i = 0; i < bars->rows && !show_output_broken(); i++) {
		report_csv_function(report, row->name, row->library);
		if (report->apart)
			report_csv_process(report, report->folder[row->trace], row->pid);
		csv_number(csv, bars->row[i].from);
		csv_number(csv, bars->row[i].to);
		csv_number(csv, bars->row[i].count);
		csv_end(csv);
	}
}

static void csv_bars_heads(struct report *report)
{
	report_csv_function_heads(report, "");
	if (report->apart)
		report_csv_process_heads(report);
	csv_heads(&report->csv, "from_ns,to_ns,calls");
	csv_end(&report->csv);
}

static void make_bars(const struct xaudit_read_profile *profile, const struct xaudit_read_row *row, struct bars *bars)
{
	size_t buckets = xaudit_read_profile_buckets(profile, row, NULL, 0);
	struct xaudit_read_bucket *bucket = memory_zeroed(buckets + 1, sizeof(*bucket));
	struct bars_range *range = memory_zeroed(buckets + 1, sizeof(*range));

	xaudit_read_profile_buckets(profile, row, bucket, buckets);
	for (size_t i = 0; i < buckets; i++)
		range[i] = (struct bars_range){ bucket[i].low, bucket[i].high, bucket[i].count };
	bars_make(bars, range, (uint32_t)buckets);
	free(range);
	free(bucket);
}

static void print_function(struct report *report, const struct xaudit_read_profile *profile,
	const struct report_line *line)
{
	const struct xaudit_read_row *row = line->row;
	char p50[SHOW_TIME_SIZE], p99[SHOW_TIME_SIZE], max[SHOW_TIME_SIZE];
	struct bars bars;

	make_bars(profile, row, &bars);
	if (report->options.json == REPORT_CSV) {
		csv_bars(report, row, &bars);
		return;
	}
	if (report->options.json) {
		putchar('{');
		report_json_function(row->name, row->library);
		if (report->apart) {
			putchar(',');
			report_json_process(report, report->folder[row->trace], row->pid);
		}
		putchar(',');
		columns_json(&report->columns, line);
		json_bars(&bars);
		putchar('}');
		return;
	}
	report_print_function(report, row->name, row->library);
	if (report->apart)
		report_print_process(report, report->folder[row->trace], row->pid);
	printf(": %" PRIu64 " call%s", row->calls, show_s(row->calls));
	if (row->timed)
		printf(", median %s, p99 %s, max %s\n", show_time(p50, line->value[COLUMN_P50]),
			show_time(p99, line->value[COLUMN_P99]), show_time(max, line->value[COLUMN_MAX]));
	else
		printf(" without a time\n");
	if (bars.rows)
		print_bars(report, &bars);
}

int report_hist(struct report *report)
{
	struct xaudit_read_profile *profile = report_count(report, XAUDIT_READ_BY_FUNCTION);
	uint32_t lines, shown = 0;
	struct report_line *line = report_lines(report, profile, &lines);
	int status = TOOL_OK;

	report_columns(report, NULL, 0);
	for (uint32_t i = 0; i < lines; i++)
		names_meet(((const struct xaudit_read_row *)line[i].row)->name);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct xaudit_read_row *row = line[i].row;
		if (!names_mean_any(report->hist, row->name, row->aliases, row->library))
			continue;
		if (report->options.json == REPORT_CSV && !shown)
			csv_bars_heads(report);
		if (report->options.json == REPORT_JSON && !shown) {
			putchar('{');
			left_json_begin(&report->left);
			printf(",\"functions\":[");
		}
		if (report->options.json == REPORT_JSON)
			fputs(shown ? ",\n" : "\n", stdout);
		else if (shown && report->options.json == REPORT_TABLE)
			putchar('\n');
		print_function(report, profile, &line[i]);
		shown++;
	}
	if (!shown) {
		struct meant meant;

		meant_begin(&meant, report->hist);
		for (uint32_t i = 0; i < lines; i++) {
			const struct xaudit_read_row *row = line[i].row;
			meant_look(&meant, row->name);
		}
		status = report_no_function(report, report->hist, &meant);
	} else if (report->options.json == REPORT_JSON) {
		printf("\n]");
		left_json_end(&report->left);
		puts("}");
	} else if (report->options.json == REPORT_TABLE) {
		left_print(report);
	}
	free(line);
	xaudit_read_profile_close(profile);
	return status;
}
