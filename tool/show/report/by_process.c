/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/by_process.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/profile.h"
#include "tool/show/report/report.h"

/* A row that is made of others. */
struct made {
	double squares; /* the sum of the squares of the times */
	struct xaudit_read_bucket *bucket;
	size_t buckets;
};

struct processes {
	const struct report *report;
	struct catalog numbers; /* of a process: pid and folder; else the name */
	struct made *made;	/* by number, as the rows */
	struct xaudit_read_row *row;
	uint32_t room;
};

int report_adds_rows_of(const struct report *report)
{
	return report->by == REPORT_BY_PROCESS ? XAUDIT_READ_BY_THREAD : XAUDIT_READ_BY_PROCESS;
}

/* What the process of a row has in common with others, which the caller frees; NULL: that is not recorded. */
static char *name_of(const struct report *report, const struct xaudit_read_row *row)
{
	struct xaudit_read_process *process = xaudit_read_process(report->trace[row->trace], row->process);
	const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
	const char *name = report->by == REPORT_BY_PROGRAM ? info->exe : info->command;

	if (report->by == REPORT_BY_HOST)
		return show_host(process);
	return name ? memory_text(name, strlen(name)) : NULL;
}

static uint32_t number_of(struct processes *all, const struct xaudit_read_row *row)
{
	const char *folder = NULL;
	char text[16], *name;

	if (all->report->by == REPORT_BY_PROCESS) {
		snprintf(text, sizeof(text), "%" PRIu32, row->pid);
		name = memory_text(text, strlen(text));
		folder = all->report->folder[row->trace];
	} else {
		name = name_of(all->report, row);
	}
	uint32_t number = catalog_number(&all->numbers, name, folder);
	free(name);
	if (number >= all->room) {
		uint32_t room = (number + 1) * 2;
		all->made = memory_resize(all->made, room, sizeof(*all->made));
		all->row = memory_resize(all->row, room, sizeof(*all->row));
		memset(all->made + all->room, 0, (room - all->room) * sizeof(*all->made));
		memset(all->row + all->room, 0, (room - all->room) * sizeof(*all->row));
		all->room = room;
	}
	return number;
}

static void add_time(uint64_t *sum, uint64_t time)
{
	*sum = *sum == XAUDIT_READ_UNKNOWN || time == XAUDIT_READ_UNKNOWN ? XAUDIT_READ_UNKNOWN : *sum + time;
}

static void add(struct processes *all, const struct xaudit_read_profile *profile, const struct xaudit_read_row *part)
{
	uint32_t number = number_of(all, part);
	struct made *made = &all->made[number];
	struct xaudit_read_row *row = &all->row[number];

	row->trace = part->trace;
	row->pid = part->pid;
	row->calls += part->calls;
	row->counted += part->counted;
	if (!part->timed)
		return;
	double mean = (double)part->sum / (double)part->timed;
	made->squares += (part->variance + mean * mean) * (double)part->timed;
	row->min = !row->timed || part->min < row->min ? part->min : row->min;
	row->max = part->max > row->max ? part->max : row->max;
	row->timed += part->timed;
	row->total += part->total;
	row->self += part->self;
	row->sum += part->sum;
	row->cpu_unknown += part->cpu_unknown;
	add_time(&row->cpu, part->cpu);
	add_time(&row->cpu_self, part->cpu_self);

	size_t buckets = xaudit_read_profile_buckets(profile, part, NULL, 0);
	made->bucket = memory_resize(made->bucket, made->buckets + buckets, sizeof(*made->bucket));
	made->buckets +=
		xaudit_read_profile_buckets(profile, part, made->bucket + made->buckets, buckets);
}

static int rising(const void *a, const void *b)
{
	const struct xaudit_read_bucket *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static uint64_t percentile(const struct made *made, const struct xaudit_read_row *row, double percent)
{
	double rank = ceil((double)row->timed * percent / 100);
	uint64_t below = 0, value = 0;

	for (size_t i = 0; i < made->buckets && (double)below < rank; i++) {
		value = made->bucket[i].low + (made->bucket[i].high - made->bucket[i].low + 1) / 2;
		below += made->bucket[i].count;
	}
	return value < row->min ? row->min : value > row->max ? row->max : value;
}

static void fill(struct made *made, const struct xaudit_read_row *row, struct report_line *line)
{
	columns_row(row, line);
	if (!row->timed)
		return;
	double mean = (double)row->sum / (double)row->timed, square = made->squares / (double)row->timed;
	qsort(made->bucket, made->buckets, sizeof(*made->bucket), rising);
	line->value[COLUMN_DEVIATION] = (uint64_t)(sqrt(fmax(0, square - mean * mean)) + 0.5);
	line->value[COLUMN_P50] = percentile(made, row, 50);
	line->value[COLUMN_P90] = percentile(made, row, 90);
	line->value[COLUMN_P99] = percentile(made, row, 99);
	line->value[COLUMN_P999] = percentile(made, row, 99.9);
}

/* What a process executed: the last of several programs in a row, which `env`, a shell or a script came to. */
static void name_processes(struct processes *all)
{
	const struct report *report = all->report;
	struct xaudit_read_process *process;
	char pid[16];

	for (uint32_t trace = 0; trace < report->traces; trace++)
		for (uint32_t i = 0; (process = xaudit_read_process(report->trace[trace], i)); i++) {
			const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
			snprintf(pid, sizeof(pid), "%" PRIu32, info->pid);
			uint32_t number = catalog_find(&all->numbers, pid, report->folder[trace]);
			if (number && info->exe)
				all->row[number].name = info->exe;
		}
}

/* Gives rows the names that they were counted by, behind them in their memory. */
static void name_rows(struct processes *all)
{
	size_t rows = all->numbers.used * sizeof(*all->row), size = 0;
	char *to;

	for (uint32_t i = 1; i < all->numbers.used; i++)
		size += all->numbers.name[i].name ? strlen(all->numbers.name[i].name) + 1 : 0;
	all->row = memory_resize(all->row, rows + size + 1, 1);
	to = (char *)all->row + rows;
	for (uint32_t i = 1; i < all->numbers.used; i++)
		if (all->numbers.name[i].name) {
			all->row[i].name = to;
			to = stpcpy(to, all->numbers.name[i].name) + 1;
		}
}

struct report_line *report_process_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count, void **rows)
{
	struct processes all = { .report = report };
	uint32_t parts = xaudit_read_profile_info(profile)->rows, lines = 0;

	for (uint32_t i = 0; i < parts; i++)
		add(&all, profile, xaudit_read_profile_row(profile, i));
	if (report->by == REPORT_BY_PROCESS)
		name_processes(&all);
	else
		name_rows(&all);
	struct report_line *line = memory_zeroed(all.numbers.used + 1, sizeof(*line));
	for (uint32_t i = 1; i < all.numbers.used; i++)
		fill(&all.made[i], &all.row[i], &line[lines++]);
	for (uint32_t i = 0; i < all.room; i++)
		free(all.made[i].bucket);
	free(all.made);
	catalog_free(&all.numbers);
	*rows = all.row;
	*count = lines;
	return line;
}
