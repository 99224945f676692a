/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/compare.h"
#include "tool/show/report/diff_probes.h"
#include "tool/show/report/diff_runs.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"

enum { OLD, NEW };

#define CHANCE	    0.01 /* that there is any mark which chance made, by one of two tests */
#define LEAST_PART  0.05 /* between single runs a smaller difference may be that of the runs */
#define SHIFT_CALLS 30	 /* a function with fewer in a run does not tell of the run as a whole */

struct diff_line {
	uint32_t name;
	const struct tally *tally[2]; /* NULL: not in this run */
	struct report_line value[2];
	unsigned marks; /* of compare.h */
	double order;	/* ns of self time; by another column: its change */
};

/* What is counted of a side's runs, perhaps by a thread of its own. */
struct side {
	struct catalog names;
	struct tallies rows; /* key: the name */
	struct diff_runs runs;
	bool probes; /* threads came to some */
};

struct diff {
	struct report *report;
	struct catalog names;
	struct tallies rows; /* key: the name, OLD or NEW */
	uint32_t runs[2];
	struct diff_runs of[2]; /* by number of the name in `names` */
	double step; /* ns: a smaller difference is none */
	struct diff_line *line;
	uint32_t lines;
	double shift;
	bool probes; /* threads came to some in one of them */
};

/* ---- counting ---- */

static void take(void *user, const struct xaudit_read_item *item)
{
	struct side *side = user;

	side->probes |= item->what == XAUDIT_READ_PROBE || item->what == XAUDIT_READ_PROBES_COUNTED;
	if (item->what != XAUDIT_READ_CALL && item->what != XAUDIT_READ_COUNTED)
		return;
	uint32_t row = tallies_find(&side->rows, catalog_function(&side->names, item->function), 0, 0);
	struct tally *tally = &side->rows.tally[row];
	if (item->what == XAUDIT_READ_COUNTED) {
		tally->calls += item->count;
		tally->counted += item->count;
		return;
	}
	tallies_add(&side->rows, row, item->call, item->call->ticks.total);
	if (!tally_is_timed(item->call))
		return;
	if (item->call->parent)
		diff_runs_made(&side->runs, catalog_function(&side->names, item->call->parent->function));
	uint64_t self = xaudit_read_calls_ns(side->rows.calls, item->call->ticks.self);
	spread_add(&tally->own, self);
	diff_runs_add(&side->runs, tally->key[0], self, item->call->ticks.self + item->call->ticks.children);
}

static void begin(void *user, uint32_t trace)
{
	struct side *side = user;

	(void)trace;
	catalog_next_trace(&side->names);
	diff_runs_next(&side->runs, side->rows.calls);
}

/* The number in `names` of the function that one of these names is a name of; 0: of none. */
static uint32_t find_alias(const struct catalog *names, const char *aliases, const char *library)
{
	uint32_t number = 0;

	for (const char *name = aliases ? aliases : ""; *name && !number; name += strlen(name) + 1)
		number = catalog_find(names, name, library);
	return number;
}

/*
 * The number of a new run's function: of an old one of that name, or else of one that has the name as an alias, or has
 * a name that is an alias here; but not of an old one that the new run has by its own name, or (taken) by another
 * alias. `others`: the aliases of old functions, with numbers that lead to theirs by `of`.
 */
static uint32_t number_of(struct diff *diff, const struct side *new, const struct catalog_name *name,
	const struct catalog *others, const uint32_t *of, bool *taken)
{
	uint32_t number = catalog_find(&diff->names, name->name, name->library);

	if (number)
		return number;
	number = of[catalog_find(others, name->name, name->library)];
	if (!number)
		number = find_alias(&diff->names, name->aliases, name->library);
	if (!number || taken[number] || catalog_find(&new->names, diff->names.name[number].name, name->library))
		return 0;
	taken[number] = true;
	return number;
}

/* Makes `others` of number_of(); the caller frees them. */
static uint32_t *list_others(const struct catalog *names, struct catalog *others)
{
	uint32_t *of = memory_zeroed(1, sizeof(*of));

	for (uint32_t i = 1; i < names->used; i++) {
		const char *alias = names->name[i].aliases ? names->name[i].aliases : "";
		for (; *alias; alias += strlen(alias) + 1) {
			uint32_t before = others->used, n = catalog_number(others, alias, names->name[i].library);
			if (others->used == before)
				continue;
			of = memory_resize(of, others->used, sizeof(*of));
			of[n] = i;
		}
	}
	return of;
}

/* The numbers that the side's names have among those of both, by number; first those of the old ones. To be freed. */
static uint32_t *number_names(struct diff *diff, const struct side *side, uint32_t which)
{
	uint32_t *numbers = memory_zeroed(side->names.used + 1, sizeof(*numbers));
	bool *taken = memory_zeroed(diff->names.used + 1, sizeof(*taken));
	struct catalog others = { 0 };
	uint32_t *of = list_others(&diff->names, &others);

	/* By an alias first: what has a number of its own then is not known of old. */
	for (uint32_t i = 1; which == NEW && i < side->names.used; i++)
		numbers[i] = number_of(diff, side, &side->names.name[i], &others, of, taken);
	for (uint32_t i = 1; i < side->names.used; i++) {
		const struct catalog_name *name = &side->names.name[i];
		if (!numbers[i])
			numbers[i] = catalog_number(&diff->names, name->name, name->library);
		catalog_alias(&diff->names, numbers[i], name->aliases);
	}
	free(of);
	free(taken);
	catalog_free(&others);
	return numbers;
}

/* Moves the rows of a side to those of both. */
static void take_rows(struct diff *diff, struct side *side, uint32_t which, const uint32_t *numbers)
{
	for (uint32_t i = 1; i < side->rows.used; i++) {
		struct tally *from = &side->rows.tally[i];
		uint32_t row = tallies_find(&diff->rows, numbers[from->key[0]], which, 0); /* may move the rows */

		tally_move(&diff->rows.tally[row], from);
	}
	tallies_free(&side->rows);
}

/* Does what differs from run to run of a side tell what is chance? */
static bool is_of_runs(const struct diff *diff)
{
	return diff->runs[OLD] > 1 && diff->runs[NEW] > 1;
}

/* Moves what is known of the side's single runs to the numbers of both sides' names. */
static void take_runs(struct diff *diff, struct side *side, uint32_t which, const uint32_t *numbers)
{
	double step = diff_runs_step(&side->runs);

	diff->step = step > diff->step ? step : diff->step;
	for (uint32_t i = 1; i < side->names.used; i++)
		diff_runs_move(&diff->of[which], numbers[i], &side->runs, i);
	diff_runs_free(&side->runs);
}

static void take_side(struct diff *diff, struct side *side, uint32_t which)
{
	uint32_t *numbers = number_names(diff, side, which);

	take_runs(diff, side, which, numbers);
	take_rows(diff, side, which, numbers);
	free(numbers);
	catalog_free(&side->names);
}

static void count_both(struct diff *diff)
{
	struct side side[2] = { 0 };
	const struct report_calls calls[2] = {
		{ .probes = true, .begin = begin, .take = take, .rows = &side[OLD].rows, .user = &side[OLD] },
		{ .probes = true, .begin = begin, .take = take, .rows = &side[NEW].rows, .user = &side[NEW] },
	};

	diff->runs[OLD] = diff->report->old;
	diff->runs[NEW] = diff->report->traces - diff->report->old;
	side[OLD].runs.each = side[NEW].runs.each = is_of_runs(diff);
	report_both(diff->report, calls, diff->report->old);
	take_side(diff, &side[OLD], OLD);
	take_side(diff, &side[NEW], NEW);
	diff->probes = side[OLD].probes || side[NEW].probes;
}

/* ---- comparing ---- */

static struct compare_run run_of(const struct tally *tally, double tails)
{
	struct compare_run run = {
		.calls = (double)tally->own.values,
		.mean = spread_mean(&tally->own),
		.variance = spread_variance(&tally->own),
		.median = (double)spread_percentile(&tally->own, 50),
		.low = NAN,
		.high = NAN,
	};
	double low, high;

	if (compare_ranks(run.calls, tails, &low, &high)) {
		run.low = (double)spread_percentile(&tally->own, low);
		run.high = (double)spread_percentile(&tally->own, high);
	}
	return run;
}

static bool in_both(const struct diff_line *line)
{
	return line->tally[OLD] && line->tally[NEW] && line->tally[OLD]->timed && line->tally[NEW]->timed;
}

static double shift_of(const struct diff *diff)
{
	double *ratio = memory_zeroed(diff->lines + 1, sizeof(*ratio)), shift;
	unsigned ratios = 0;

	for (uint32_t i = 0; i < diff->lines; i++) {
		const struct diff_line *line = &diff->line[i];
		if (!in_both(line) || line->tally[OLD]->timed < SHIFT_CALLS || line->tally[NEW]->timed < SHIFT_CALLS)
			continue;
		uint64_t before = spread_percentile(&line->tally[OLD]->own, 50);
		if (before)
			ratio[ratios++] = (double)spread_percentile(&line->tally[NEW]->own, 50) / (double)before;
	}
	shift = compare_shift(ratio, ratios);
	free(ratio);
	return shift;
}

static double number(uint64_t value)
{
	return value == COLUMN_UNKNOWN ? 0 : (double)value;
}

/* By what differs between the runs of a side. */
static unsigned marks_of_runs(const struct diff *diff, uint32_t name, double tails)
{
	struct compare_run mean[2], median[2];

	for (unsigned side = OLD; side <= NEW; side++) {
		diff_runs_compare(&diff->of[side], name, false, &mean[side]);
		diff_runs_compare(&diff->of[side], name, true, &median[side]);
	}
	return (compare_means(&mean[OLD], &mean[NEW]) < tails ? COMPARE_MEAN : 0) |
	       (compare_means(&median[OLD], &median[NEW]) < tails ? COMPARE_MEDIAN : 0);
}

/*
 * By what differs between calls. Times have a long tail: a few calls during which the processor did something else may
 * make the mean. So that of the others must differ, too.
 */
static unsigned marks_of_calls(const struct diff *diff, const struct diff_line *line, double shift,
	const struct compare_run *expected, const struct compare_run *after, double tails)
{
	struct compare_run most[2], blocks[2];
	unsigned marks = compare_runs(expected, after, tails);

	for (unsigned side = OLD; side <= NEW; side++) {
		diff_runs_most(&line->tally[side]->own, &most[side]);
		diff_runs_blocks(&diff->of[side], line->name, &blocks[side]);
	}
	most[OLD] = compare_scaled(&most[OLD], shift);
	blocks[OLD] = compare_scaled(&blocks[OLD], shift);
	if (compare_means(&most[OLD], &most[NEW]) >= tails || compare_means(&blocks[OLD], &blocks[NEW]) >= tails)
		marks &= ~COMPARE_MEAN;
	if (fabs(after->median - expected->median) < LEAST_PART * fmin(after->median, expected->median))
		marks &= ~COMPARE_MEDIAN;
	if (fabs(after->mean - expected->mean) < LEAST_PART * fmin(after->mean, expected->mean))
		marks &= ~COMPARE_MEAN;
	return marks;
}

/* The change of the self time that is no chance; of several runs, that of one. */
static double change_of(const struct diff *diff, struct diff_line *line, double shift, double tails)
{
	if (!in_both(line))
		return number(line->value[NEW].value[COLUMN_SELF]) - number(line->value[OLD].value[COLUMN_SELF]);

	struct compare_run before = run_of(line->tally[OLD], tails), after = run_of(line->tally[NEW], tails);
	struct compare_run expected = compare_scaled(&before, shift);
	double runs = diff->runs[NEW], old = diff->runs[OLD];
	/* Errors of readings add up as their squares do. */
	double step = diff->step * sqrt(fmax(diff_runs_stretches(&diff->of[OLD], line->name),
		diff_runs_stretches(&diff->of[NEW], line->name)));
	double change = (number(line->tally[NEW]->calls) / runs - number(line->tally[OLD]->calls) / old) *
			expected.mean;

	line->marks = is_of_runs(diff) ? marks_of_runs(diff, line->name, tails) :
					 marks_of_calls(diff, line, shift, &expected, &after, tails);
	if (fabs(after.mean - expected.mean) <= step)
		line->marks &= ~COMPARE_MEAN;
	if (fabs(after.median - expected.median) <= step)
		line->marks &= ~COMPARE_MEDIAN;
	if (line->marks & COMPARE_MEAN)
		change += after.calls / runs * (after.mean - expected.mean);
	else if (line->marks & COMPARE_MEDIAN) /* the mean has too much in it that comes seldom */
		change += after.calls / runs * (after.median - expected.median);
	return change;
}

static void compare_all(struct diff *diff)
{
	unsigned both = 0;

	for (uint32_t i = 0; i < diff->lines; i++)
		both += in_both(&diff->line[i]);
	for (uint32_t i = 0; i < diff->lines; i++) {
		struct diff_line *line = &diff->line[i];
		int sort = diff->report->sort;
		line->order = change_of(diff, line, diff->shift, CHANCE / 2 / (both ? both : 1));
		if (sort != COLUMNS)
			line->order = number(line->value[NEW].value[sort]) - number(line->value[OLD].value[sort]);
	}
}

static const struct diff *compared;

static int by_order(const void *a, const void *b)
{
	const struct diff_line *x = a, *y = b;
	double p = fabs(x->order), q = fabs(y->order);

	if (p < q || p > q)
		return p > q ? -1 : 1;
	p = fabs(number(x->value[NEW].value[COLUMN_SELF]) - number(x->value[OLD].value[COLUMN_SELF]));
	q = fabs(number(y->value[NEW].value[COLUMN_SELF]) - number(y->value[OLD].value[COLUMN_SELF]));
	if (p < q || p > q)
		return p > q ? -1 : 1;
	return catalog_compare(&compared->names, x->name, y->name);
}

/* The values of a side: of several runs, what one of them has on average. */
static void mean_line(const struct tally *tally, uint32_t runs, struct report_line *line)
{
	static const uint8_t sums[] = { COLUMN_CALLS, COLUMN_COUNTED, COLUMN_TOTAL, COLUMN_CPU, COLUMN_SELF,
		COLUMN_CPU_SELF };

	tally_line(tally, line);
	for (unsigned i = 0; runs > 1 && i < sizeof(sums); i++)
		if (line->value[sums[i]] != COLUMN_UNKNOWN)
			line->value[sums[i]] = (line->value[sums[i]] + runs / 2) / runs;
}

static void make_lines(struct diff *diff)
{
	diff->line = memory_zeroed(diff->names.used + 1, sizeof(*diff->line));
	for (uint32_t name = 1; name < diff->names.used; name++) {
		struct diff_line *line = &diff->line[diff->lines++];
		line->name = name;
		for (unsigned side = OLD; side <= NEW; side++) {
			uint32_t row = tallies_find(&diff->rows, name, side, 0);
			if (diff->rows.tally[row].calls)
				mean_line(&diff->rows.tally[row], diff->runs[side], &line->value[side]);
			else
				columns_unknown(&line->value[side]);
		}
	}
	/* Only now rows stay where they are. */
	for (uint32_t i = 0; i < diff->lines; i++)
		for (unsigned side = OLD; side <= NEW; side++) {
			struct tally *tally =
				&diff->rows.tally[tallies_find(&diff->rows, diff->line[i].name, side, 0)];
			diff->line[i].tally[side] = tally->calls ? tally : NULL;
		}
	/* What makes a run faster as a whole is part of what differs between runs. */
	diff->shift = is_of_runs(diff) ? 1 : shift_of(diff);
	compare_all(diff);
	compared = diff;
	if (diff->lines)
		qsort(diff->line, diff->lines, sizeof(*diff->line), by_order);
}

/* ---- printing ---- */

#define CHANGE_SIZE 24

/* By how much a value changed: "+20.0 %"; "-" where that can't be told. */
static const char *change_text(char buf[CHANGE_SIZE], uint64_t before, uint64_t after)
{
	if (before == after && before != COLUMN_UNKNOWN)
		return "0.0 %";
	if (before == COLUMN_UNKNOWN || after == COLUMN_UNKNOWN || !before)
		return "-";
	double percent = 100 * (number(after) - number(before)) / number(before);
	if (percent > 9999)
		return "> 9999 %";
	snprintf(buf, CHANGE_SIZE, "%+.1f %%", percent);
	return buf;
}

static const char *mark(const struct diff_line *line)
{
	if (!line->tally[OLD] || !line->tally[NEW])
		return line->tally[NEW] ? "new" : "gone";
	return line->marks == (COMPARE_MEAN | COMPARE_MEDIAN) ? "**" : line->marks ? "*" : "";
}

static void print_remarks(const struct diff *diff)
{
	const struct report *report = diff->report;
	uint64_t self[2] = { 0, 0 };
	char old[SHOW_TIME_SIZE], new[SHOW_TIME_SIZE], change[CHANGE_SIZE];
	unsigned marks = 0;

	for (uint32_t i = 0; i < diff->lines; i++) {
		for (unsigned side = OLD; side <= NEW; side++)
			self[side] += diff->line[i].tally[side] ? diff->line[i].tally[side]->ns.self : 0;
		marks |= diff->line[i].marks;
	}
	for (unsigned side = OLD; side <= NEW; side++)
		self[side] /= diff->runs[side];
	term_rows(false);
	printf("\nself time of all functions: %s, it was %s (%s)\n", show_time(new, self[NEW]),
		show_time(old, self[OLD]), change_text(change, self[OLD], self[NEW]));
	if (marks)
		printf("** calls take another time without their callees, by mean and median; * by one of them\n");
	if (is_of_runs(diff))
		printf("%" PRIu32 " runs, before %" PRIu32 ": values are those of one, marks go by what differs "
		       "between runs\n", diff->runs[NEW], diff->runs[OLD]);
	if (diff->shift < 1 || diff->shift > 1)
		printf("most functions take %.3f times as long: order and marks leave that out\n", diff->shift);
	left_print(report);
}

static void print_table(const struct diff *diff)
{
	const struct report *report = diff->report;
	const struct report_columns *columns = &report->columns;
	const struct show_colors *color = report->color;
	char buf[SHOW_TIME_SIZE], change[CHANGE_SIZE];

	report_meet(&diff->names);
	fputs(color->head, stdout);
	for (unsigned i = 0; i < columns->count; i++)
		printf("%*s  %9s  ", column_width(columns->column[i]), column_head(columns->column[i]), "Change");
	printf("Mark  Function%s\n", color->off);
	for (unsigned i = 0; i < columns->count; i++)
		printf("%.*s  =========  ", column_width(columns->column[i]), "===========");
	printf("====  ====================\n");
	for (uint32_t i = 0; i < diff->lines && !show_output_broken(); i++) {
		const struct diff_line *line = &diff->line[i];
		const struct catalog_name *name = &diff->names.name[line->name];
		for (unsigned k = 0; k < columns->count; k++) {
			enum report_column column = columns->column[k];
			uint64_t before = line->value[OLD].value[column], after = line->value[NEW].value[column];
			printf("%*s  %9s  ", column_width(column), column_text(buf, column, after),
				change_text(change, before, after));
		}
		printf("%s%-4s%s  ", color->warn, mark(line), color->off);
		report_print_function(report, name->name, name->library);
		putchar('\n');
	}
	if (diff->probes)
		diff_probes_print(report);
	print_remarks(diff);
}

static void json_changes(const struct report_columns *columns, const struct diff_line *line)
{
	printf("\"change\":{");
	for (unsigned i = 0; i < columns->count; i++) {
		enum report_column column = columns->column[i];
		uint64_t before = line->value[OLD].value[column], after = line->value[NEW].value[column];
		printf("%s\"%s\":", i ? "," : "", column_key(column));
		if (before == COLUMN_UNKNOWN || after == COLUMN_UNKNOWN || !before)
			printf("null");
		else
			printf("%.6f", (number(after) - number(before)) / number(before));
	}
	putchar('}');
}

/* A text; of several runs a list of them. */
static void json_folders(const char *name, const char *const *folder, uint32_t count)
{
	printf(",\"%s\":%s", name, count > 1 ? "[" : "");
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? "," : "", stdout);
		json_string(stdout, folder[i]);
	}
	fputs(count > 1 ? "]" : "", stdout);
}

static void print_json(const struct diff *diff)
{
	const struct report *report = diff->report;

	putchar('{');
	left_json_begin(&report->left);
	json_folders("old", report->folder, report->old);
	json_folders("new", report->folder + report->old, report->traces - report->old);
	printf(",\"shift\":%.6f,\"functions\":[", diff->shift);
	for (uint32_t i = 0; i < diff->lines && !show_output_broken(); i++) {
		const struct diff_line *line = &diff->line[i];
		const struct catalog_name *name = &diff->names.name[line->name];
		printf("%s\n{", i ? "," : "");
		report_json_function(name->name, name->library);
		printf(",\"by_mean\":%s,\"by_median\":%s,", line->marks & COMPARE_MEAN ? "true" : "false",
			line->marks & COMPARE_MEDIAN ? "true" : "false");
		for (unsigned side = OLD; side <= NEW; side++) {
			printf("\"%s\":", side == OLD ? "old" : "new");
			fputs(line->tally[side] ? "{" : "null", stdout);
			if (line->tally[side])
				columns_json(&report->columns, &line->value[side]);
			fputs(line->tally[side] ? "}," : ",", stdout);
		}
		json_changes(&report->columns, line);
		putchar('}');
	}
	printf("\n]");
	if (diff->probes)
		diff_probes_json(report);
	left_json_end(&report->left);
	puts("}");
}

static void print_csv(struct diff *diff)
{
	struct report *report = diff->report;
	struct csv *csv = &report->csv;

	report_csv_function_heads(report, "");
	csv_heads(csv, "by_mean,by_median");
	columns_csv_heads(&report->columns, "old_", csv);
	columns_csv_heads(&report->columns, "new_", csv);
	csv_end(csv);
	for (uint32_t i = 0; i < diff->lines && !show_output_broken(); i++) {
		const struct diff_line *line = &diff->line[i];
		const struct catalog_name *name = &diff->names.name[line->name];
		report_csv_function(report, name->name, name->library);
		csv_number(csv, (line->marks & COMPARE_MEAN) != 0);
		csv_number(csv, (line->marks & COMPARE_MEDIAN) != 0);
		columns_csv(&report->columns, &line->value[OLD], csv);
		columns_csv(&report->columns, &line->value[NEW], csv);
		csv_end(csv);
	}
}

int report_diff(struct report *report)
{
	static const uint8_t usual[] = { COLUMN_CALLS, COLUMN_SELF, COLUMN_SELF_P50, COLUMN_TOTAL };
	struct diff diff = { .report = report };

	report_columns(report, usual, sizeof(usual));
	if (report->options.json && !report->columns.chosen) {
		report->columns.column[report->columns.count++] = COLUMN_SELF_AVG;
		report->columns.column[report->columns.count++] = COLUMN_SELF_P50;
	}
	count_both(&diff);
	make_lines(&diff);
	if (report->options.json == REPORT_CSV)
		print_csv(&diff);
	else if (report->options.json)
		print_json(&diff);
	else
		print_table(&diff);
	free(diff.line);
	diff_runs_free(&diff.of[OLD]);
	diff_runs_free(&diff.of[NEW]);
	tallies_free(&diff.rows);
	catalog_free(&diff.names);
	return 0;
}
