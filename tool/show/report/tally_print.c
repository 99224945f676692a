/* SPDX-License-Identifier: MIT */
#include "tool/show/report/tally_print.h"

#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/row_names.h"

struct report_line *tally_lines(const struct report *report, const struct tallies *rows,
	int (*compare)(const void *row, const void *other), uint32_t *lines)
{
	struct report_line *line = memory_zeroed(rows->used + 1, sizeof(*line));
	enum report_column sort = report->sort == COLUMNS ? COLUMN_TOTAL : (enum report_column)report->sort;

	*lines = 0;
	for (uint32_t i = 1; i < rows->used; i++)
		if (rows->tally[i].calls)
			tally_line(&rows->tally[i], &line[(*lines)++]);
	columns_sort(line, *lines, sort, compare);
	return line;
}

void tally_columns(struct report *report, bool shares)
{
	static const uint8_t of_parts[] = { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF, COLUMN_SHARE, COLUMN_MAX };
	static const uint8_t of_functions[] = { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF, COLUMN_MIN, COLUMN_P50,
		COLUMN_P99, COLUMN_MAX };

	if (shares)
		report_columns(report, of_parts, sizeof(of_parts));
	else
		report_columns(report, of_functions, sizeof(of_functions));
}

static void print_lines(
	const struct report *report, const struct tally_table *table, const struct report_line *line, uint32_t lines)
{
	columns_heads(&report->columns, table->head, report->color);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		columns_line(&report->columns, &line[i]);
		table->print(table->of, &line[i]);
	}
	left_print(report);
}

static void csv_lines(
	struct report *report, const struct tally_table *table, const struct report_line *line, uint32_t lines)
{
	table->csv(table->of, NULL);
	columns_csv_heads(&report->columns, "", &report->csv);
	csv_end(&report->csv);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		table->csv(table->of, &line[i]);
		columns_csv(&report->columns, &line[i], &report->csv);
		csv_end(&report->csv);
	}
}

void tally_print(struct report *report, const struct tallies *rows, const struct tally_table *table)
{
	uint32_t lines;
	struct report_line *line = tally_lines(report, rows, table->compare, &lines);

	tally_columns(report, table->shares);
	if (report->options.json == REPORT_CSV)
		csv_lines(report, table, line, lines);
	else if (report->options.json)
		report_json_lines(report, line, lines, table->json, table->of);
	else
		print_lines(report, table, line, lines);
	free(line);
}
