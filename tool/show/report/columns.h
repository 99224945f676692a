/* SPDX-License-Identifier: MIT */
/*
 * The columns of `xaudit report`, and a line with a value for each of them. All questions that report answers make
 * their tables of these lines.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_COLUMNS_H
#define XAUDIT_TOOL_SHOW_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/csv.h"
#include "tool/base/options.h"
#include "tool/show/show.h"

/*
 * In the order of tables: name; word on the command line; unit, and what is behind it in JSON; head in tables.
 * X_FIRST, X_LAST: of the first and the last one.
 */
#define REPORT_COLUMNS(X_FIRST, X, X_LAST)                                \
	X_FIRST(CALLS, "calls", NUMBER, "calls", "Calls")                 \
	X(COUNTED, "counted", NUMBER, "counted", "Counted")               \
	X(TOTAL, "total", TIME, "total_ns", "Total")                      \
	X(CPU, "cpu", TIME, "cpu_ns", "On CPU")                           \
	X(SELF, "self", TIME, "self_ns", "Self")                          \
	X(CPU_SELF, "self-cpu", TIME, "cpu_self_ns", "Self on CPU")       \
	X(SHARE, "share", SHARE, "share", "Share")                        \
	X(MIN, "min", TIME, "min_ns", "Min")                              \
	X(AVG, "avg", TIME, "avg_ns", "Average")                          \
	X(DEVIATION, "deviation", TIME, "deviation_ns", "Deviation")      \
	X(P50, "p50", TIME, "p50_ns", "Median")                           \
	X(P90, "p90", TIME, "p90_ns", "P90")                              \
	X(P99, "p99", TIME, "p99_ns", "P99")                              \
	X(P999, "p999", TIME, "p999_ns", "P99.9")                         \
	X(MAX, "max", TIME, "max_ns", "Max")                              \
	X(SELF_AVG, "self-avg", TIME, "self_avg_ns", "Self/Call")         \
	X_LAST(SELF_P50, "self-p50", TIME, "self_p50_ns", "Self Median") /* only known to --diff */

enum report_column {
#define X(NAME, word, unit, key, head) COLUMN_##NAME,
	REPORT_COLUMNS(X, X, X)
#undef X
	COLUMNS
};

/* As options_index() takes them. */
#define COLUMN_WORDS REPORT_COLUMNS(COLUMN_FIRST_WORD, COLUMN_WORD, COLUMN_LAST_WORD)
#define COLUMN_FIRST_WORD(NAME, word, unit, key, head) word
#define COLUMN_WORD(NAME, word, unit, key, head)       ", " word
#define COLUMN_LAST_WORD(NAME, word, unit, key, head)  " or " word

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
 * width are left for the name at the end of each line, without which the line says nothing. The column that lines are
 * sorted by stays. beside: what a line takes beside columns, and with each of them.
 */
void columns_fit(
	struct report_columns *columns, unsigned width, unsigned sort, unsigned beside, unsigned beside_each);

/* The same for JSON and CSV: more of them. */
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

/* The same as fields of CSV; and their heads, each with `prefix` in front of it. */
void columns_csv(const struct report_columns *columns, const struct report_line *line, struct csv *csv);
void columns_csv_heads(const struct report_columns *columns, const char *prefix, struct csv *csv);

/* What a column is called in JSON and CSV. */
const char *column_key(enum report_column column);

/* No value is known. */
void columns_unknown(struct report_line *line);

/* The head of a column in tables, its width, and one value as text there, in buf or not. */
const char *column_head(enum report_column column);
int column_width(enum report_column column);
const char *column_text(char buf[SHOW_TIME_SIZE], enum report_column column, uint64_t value);

#endif
