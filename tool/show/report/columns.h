/* SPDX-License-Identifier: MIT */
/*
 * The columns of `xaudit report`: what each is called on the command line (--columns, --sort), in tables and in JSON,
 * and a line with a value for each of them. All questions that report answers make their tables of these lines.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_COLUMNS_H
#define XAUDIT_TOOL_SHOW_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/options.h"
#include "tool/show/show.h"

/* In the order of tables. */
enum report_column {
	COLUMN_CALLS,
	COLUMN_COUNTED,
	COLUMN_TOTAL,
	COLUMN_CPU,
	COLUMN_SELF,
	COLUMN_CPU_SELF,
	COLUMN_SHARE,
	COLUMN_MIN,
	COLUMN_AVG,
	COLUMN_DEVIATION,
	COLUMN_P50,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_P999,
	COLUMN_MAX,
	COLUMN_SELF_AVG,
	COLUMN_SELF_P50, /* only known to --diff */
	COLUMNS
};

#define COLUMN_WORDS                                                                                              \
	"calls, counted, total, cpu, self, self-cpu, share, min, avg, deviation, p50, p90, p99, p999, max, "      \
	"self-avg or self-p50"

/* A value that is not known: "-" in tables, null in JSON. */
#define COLUMN_UNKNOWN UINT64_MAX

/* Times are ns; the share is a millionth of the self time of all lines. */
struct report_line {
	uint64_t value[COLUMNS];
	const void *row; /* whose line it is */
};

struct report_columns {
	unsigned count;
	uint8_t column[COLUMNS]; /* enum report_column */
	bool chosen; /* by --columns */
};

/* For a row of options: stores at a struct report_columns. */
bool columns_take(const struct options_given *given);

/*
 * The columns that are shown: the chosen ones; else these, and that which lines are sorted by (COLUMNS: none) where it
 * stands in the order of tables. cpu: behind total and self stand these on processors, too.
 */
void columns_default(
	struct report_columns *columns, const uint8_t *column, unsigned count, unsigned sort, bool cpu);

/*
 * Leaves out columns that were not chosen, the least important ones first, until so many characters of a terminal's
 * width are left for the name at the end of each line, which says nothing if it is cut away; never that which lines are
 * sorted by. beside: what a line takes beside columns, and with each of them.
 */
void columns_fit(
	struct report_columns *columns, unsigned width, unsigned sort, unsigned beside, unsigned beside_each);

/* The same for JSON, where order does not matter. */
void columns_default_json(struct report_columns *columns, bool cpu);

/*
 * Fills in the shares, and sorts: falling, unknown values last; equal ones by calls, then as the rows compare, so that
 * nothing depends on the order in the trace.
 */
void columns_sort(struct report_line *line, uint32_t lines, enum report_column by,
	int (*compare)(const void *row, const void *other));

/* A line of heads, with the rule below; `what` is the head of the name that stands at the end of each line. */
void columns_heads(const struct report_columns *columns, const char *what, const struct show_colors *color);

/* The values of a line, and two blanks. */
void columns_line(const struct report_columns *columns, const struct report_line *line);

/* "calls":1,"total_ns":2, ... without a comma before or behind. */
void columns_json(const struct report_columns *columns, const struct report_line *line);

/* What a column is called in JSON. */
const char *column_key(enum report_column column);

/* No value is known. */
void columns_unknown(struct report_line *line);

/* The head of a column in tables, its width, and one value as text there, in buf or not. */
const char *column_head(enum report_column column);
int column_width(enum report_column column);
const char *column_text(char buf[SHOW_TIME_SIZE], enum report_column column, uint64_t value);

#endif
