/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/report/each_call.h"
#include "tool/show/term/fit.h"

enum unit { UNIT_NUMBER, UNIT_TIME, UNIT_SHARE };

static const struct {
	const char *head, *key;
	enum unit unit;
} table[COLUMNS] = {
#define X(NAME, word, unit, key, head) { head, key, UNIT_##unit },
	REPORT_COLUMNS(X, X, X)
#undef X
};

/* ---- which ---- */

bool columns_take(const struct options_given *given)
{
	struct report_columns *columns = (struct report_columns *)(void *)((char *)given->context + given->row->at);

	*columns = (struct report_columns){ .chosen = true };
	for (const char *at = given->value;; at++) {
		size_t length = strcspn(at, ",");
		char *word = memory_text(at, length);
		const struct options_given one = { given->syntax, given->row, word, given->context };
		int column = options_index(COLUMN_WORDS, word);
		const char *wrong = column < 0 ? "%o: there is no column '%v'; allowed: %a" : NULL;

		for (unsigned i = 0; i < columns->count && !wrong; i++)
			if (columns->column[i] == column)
				wrong = "%o has '%v' twice";
		if (wrong)
			options_wrong_as(&one, wrong, COLUMN_WORDS);
		free(word);
		if (wrong)
			return false;
		columns->column[columns->count++] = (uint8_t)column;
		at += length;
		if (!*at)
			return true;
	}
}

static bool has(const struct report_columns *columns, unsigned column)
{
	for (unsigned i = 0; i < columns->count; i++)
		if (columns->column[i] == column)
			return true;
	return false;
}

void columns_default(
	struct report_columns *columns, const uint8_t *column, unsigned count, unsigned sort, bool cpu)
{
	struct report_columns asked = { 0 };

	if (columns->chosen)
		return;
	for (unsigned i = 0; i < count; i++) {
		asked.column[asked.count++] = column[i];
		if (cpu && (column[i] == COLUMN_TOTAL || column[i] == COLUMN_SELF))
			asked.column[asked.count++] = column[i] == COLUMN_TOTAL ? COLUMN_CPU : COLUMN_CPU_SELF;
	}
	if (has(&asked, sort))
		sort = COLUMNS;
	columns->count = 0;
	for (unsigned i = 0; i < asked.count; i++) {
		if (sort < asked.column[i]) {
			columns->column[columns->count++] = (uint8_t)sort;
			sort = COLUMNS;
		}
		columns->column[columns->count++] = asked.column[i];
	}
	if (sort < COLUMNS)
		columns->column[columns->count++] = (uint8_t)sort;
}

static unsigned width_of(const struct report_columns *columns, unsigned beside_each)
{
	unsigned width = 0;

	for (unsigned i = 0; i < columns->count; i++)
		width += (unsigned)column_width(columns->column[i]) + 2 + beside_each;
	return width;
}

static void leave_out(struct report_columns *columns, unsigned column)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < columns->count; i++)
		if (columns->column[i] != column)
			columns->column[kept++] = columns->column[i];
	columns->count = kept;
}

void columns_fit(
	struct report_columns *columns, unsigned width, unsigned sort, unsigned beside, unsigned beside_each)
{
	static const uint8_t order[] = { COLUMN_MIN, COLUMN_P99, COLUMN_P50, COLUMN_SHARE, COLUMN_SELF_P50, COLUMN_MAX,
		COLUMN_CPU_SELF, COLUMN_CPU, COLUMN_CALLS };

	if (!width || columns->chosen)
		return;
	for (unsigned i = 0; i < sizeof(order); i++)
		if (order[i] != sort && width_of(columns, beside_each) + beside + FIT_KEEPS > width)
			leave_out(columns, order[i]);
}

void columns_default_json(struct report_columns *columns, bool cpu)
{
	static const uint8_t usual[] = { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF, COLUMN_MIN, COLUMN_P50, COLUMN_P90,
		COLUMN_P99, COLUMN_MAX, COLUMN_COUNTED };

	columns_default(columns, usual, sizeof(usual), COLUMNS, cpu);
}

void columns_unknown(struct report_line *line)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		line->value[i] = COLUMN_UNKNOWN;
}

/* ---- order ---- */

static enum report_column sorted_by;
static int (*compare_rows)(const void *row, const void *other);

static int falling(const void *a, const void *b)
{
	const struct report_line *x = a, *y = b;
	/* What is unknown is less than 0. */
	uint64_t p = x->value[sorted_by] + 1, q = y->value[sorted_by] + 1;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->value[COLUMN_CALLS] != y->value[COLUMN_CALLS])
		return x->value[COLUMN_CALLS] > y->value[COLUMN_CALLS] ? -1 : 1;
	return compare_rows(x->row, y->row);
}

void columns_sort(struct report_line *line, uint32_t lines, enum report_column by,
	int (*compare)(const void *row, const void *other))
{
	unsigned __int128 all = 0;

	for (uint32_t i = 0; i < lines; i++)
		all += line[i].value[COLUMN_SELF];
	for (uint32_t i = 0; i < lines; i++)
		line[i].value[COLUMN_SHARE] =
			all ? (uint64_t)((unsigned __int128)line[i].value[COLUMN_SELF] * 1000000 / all) : 0;
	sorted_by = by;
	compare_rows = compare;
	if (lines)
		qsort(line, lines, sizeof(*line), falling);
}

/* ---- tables ---- */

const char *column_key(enum report_column column)
{
	return table[column].key;
}

const char *column_head(enum report_column column)
{
	return table[column].head;
}

const char *column_text(char buf[SHOW_TIME_SIZE], enum report_column column, uint64_t value)
{
	if (value == COLUMN_UNKNOWN)
		return "-";
	switch (table[column].unit) {
	case UNIT_TIME:
		return show_time_column(buf, value);
	case UNIT_SHARE:
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64 ".%02u %%", value / 10000, (unsigned)(value / 100 % 100));
		return buf;
	default:
		snprintf(buf, SHOW_TIME_SIZE, "%" PRIu64, value);
	}
	return buf;
}

/* Numbers have 10 characters, times 11; two blanks stand between columns. */
int column_width(enum report_column column)
{
	return table[column].unit == UNIT_TIME ? 11 : 10;
}

void columns_heads(const struct report_columns *columns, const char *what, const struct show_colors *color)
{
	static const char rule[] = "===========";

	fputs(color->head, stdout);
	for (unsigned i = 0; i < columns->count; i++)
		printf("%*s  ", column_width(columns->column[i]), table[columns->column[i]].head);
	printf("%s%s\n", what, color->off);
	for (unsigned i = 0; i < columns->count; i++)
		printf("%.*s  ", column_width(columns->column[i]), rule);
	printf("====================\n");
}

void columns_line(const struct report_columns *columns, const struct report_line *line)
{
	char buf[SHOW_TIME_SIZE];

	for (unsigned i = 0; i < columns->count; i++) {
		enum report_column column = columns->column[i];
		uint64_t value = line->value[column];

		/* Of calls without a time, a sum of times says nothing. */
		if (!value && table[column].unit == UNIT_TIME && line->value[COLUMN_MIN] == COLUMN_UNKNOWN)
			value = COLUMN_UNKNOWN;
		printf("%*s  ", column_width(column), column_text(buf, column, value));
	}
}

/* ---- JSON ---- */

void columns_json(const struct report_columns *columns, const struct report_line *line)
{
	for (unsigned i = 0; i < columns->count; i++) {
		enum report_column column = columns->column[i];
		uint64_t value = line->value[column];

		printf("%s\"%s\":", i ? "," : "", table[column].key);
		if (value == COLUMN_UNKNOWN)
			printf("null");
		else if (table[column].unit == UNIT_SHARE)
			printf("%" PRIu64 ".%06u", value / 1000000, (unsigned)(value % 1000000));
		else
			printf("%" PRIu64, value);
	}
}

/* ---- CSV ---- */

void columns_csv(const struct report_columns *columns, const struct report_line *line, struct csv *csv)
{
	for (unsigned i = 0; i < columns->count; i++) {
		enum report_column column = columns->column[i];
		uint64_t value = line->value[column];

		if (value != COLUMN_UNKNOWN && table[column].unit == UNIT_SHARE)
			csv_share(csv, value);
		else
			csv_known(csv, value != COLUMN_UNKNOWN, value);
	}
}

void columns_csv_heads(const struct report_columns *columns, const char *prefix, struct csv *csv)
{
	for (unsigned i = 0; i < columns->count; i++) {
		csv_heads(csv, prefix);
		fputs(table[columns->column[i]].key, csv->to);
	}
}
