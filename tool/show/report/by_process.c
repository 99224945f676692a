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

struct process {
	double squares; /* the sum of the squares of the times */
	struct xaudit_read_bucket *bucket;
	size_t buckets;
};

struct processes {
	const struct report *report;
	struct catalog numbers; /* of a process: pid and folder */
	struct process *process; /* by number, as the rows */
	struct xaudit_read_row *row;
	uint32_t room;
};

static uint32_t number_of(struct processes *all, uint32_t trace, uint32_t pid, bool make)
{
	const char *folder = all->report->folder[trace];
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	uint32_t number =
		make ? catalog_number(&all->numbers, text, folder) : catalog_find(&all->numbers, text, folder);
	if (number >= all->room) {
		uint32_t room = (number + 1) * 2;
		all->process = memory_resize(all->process, room, sizeof(*all->process));
		all->row = memory_resize(all->row, room, sizeof(*all->row));
		memset(all->process + all->room, 0, (room - all->room) * sizeof(*all->process));
		memset(all->row + all->room, 0, (room - all->room) * sizeof(*all->row));
		all->room = room;
	}
	return number;
}

static void add_time(uint64_t *sum, uint64_t time)
{
	*sum = *sum == XAUDIT_READ_UNKNOWN || time == XAUDIT_READ_UNKNOWN ? XAUDIT_READ_UNKNOWN : *sum + time;
}

static void add(struct processes *all, const struct xaudit_read_profile *profile, const struct xaudit_read_row *thread)
{
	uint32_t number = number_of(all, thread->trace, thread->pid, true);
	struct process *process = &all->process[number];
	struct xaudit_read_row *row = &all->row[number];

	row->trace = thread->trace;
	row->pid = thread->pid;
	row->calls += thread->calls;
	row->counted += thread->counted;
	if (!thread->timed)
		return;
	double mean = (double)thread->sum / (double)thread->timed;
	process->squares += (thread->variance + mean * mean) * (double)thread->timed;
	row->min = !row->timed || thread->min < row->min ? thread->min : row->min;
	row->max = thread->max > row->max ? thread->max : row->max;
	row->timed += thread->timed;
	row->total += thread->total;
	row->self += thread->self;
	row->sum += thread->sum;
	row->cpu_unknown += thread->cpu_unknown;
	add_time(&row->cpu, thread->cpu);
	add_time(&row->cpu_self, thread->cpu_self);

	size_t buckets = xaudit_read_profile_buckets(profile, thread, NULL, 0);
	process->bucket = memory_resize(process->bucket, process->buckets + buckets, sizeof(*process->bucket));
	process->buckets +=
		xaudit_read_profile_buckets(profile, thread, process->bucket + process->buckets, buckets);
}

static int rising(const void *a, const void *b)
{
	const struct xaudit_read_bucket *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static uint64_t percentile(const struct process *process, const struct xaudit_read_row *row, double percent)
{
	double rank = ceil((double)row->timed * percent / 100);
	uint64_t below = 0, value = 0;

	for (size_t i = 0; i < process->buckets && (double)below < rank; i++) {
		value = process->bucket[i].low + (process->bucket[i].high - process->bucket[i].low + 1) / 2;
		below += process->bucket[i].count;
	}
	return value < row->min ? row->min : value > row->max ? row->max : value;
}

static void fill(struct process *process, const struct xaudit_read_row *row, struct report_line *line)
{
	columns_row(row, line);
	if (!row->timed)
		return;
	double mean = (double)row->sum / (double)row->timed, square = process->squares / (double)row->timed;
	qsort(process->bucket, process->buckets, sizeof(*process->bucket), rising);
	line->value[COLUMN_DEVIATION] = (uint64_t)(sqrt(fmax(0, square - mean * mean)) + 0.5);
	line->value[COLUMN_P50] = percentile(process, row, 50);
	line->value[COLUMN_P90] = percentile(process, row, 90);
	line->value[COLUMN_P99] = percentile(process, row, 99);
	line->value[COLUMN_P999] = percentile(process, row, 99.9);
}

/* What a process executed: the last of several programs in a row, which `env`, a shell or a script came to. */
static void name(struct processes *all)
{
	const struct report *report = all->report;
	struct xaudit_read_process *process;

	for (uint32_t trace = 0; trace < report->traces; trace++)
		for (uint32_t i = 0; (process = xaudit_read_process(report->trace[trace], i)); i++) {
			const struct xaudit_read_process_info *info = xaudit_read_process_info(process);
			uint32_t number = number_of(all, trace, info->pid, false);
			if (number && info->exe)
				all->row[number].name = info->exe;
		}
}

struct report_line *report_process_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count, void **rows)
{
	struct processes all = { .report = report };
	uint32_t threads = xaudit_read_profile_info(profile)->rows, lines = 0;

	for (uint32_t i = 0; i < threads; i++)
		add(&all, profile, xaudit_read_profile_row(profile, i));
	name(&all);
	struct report_line *line = memory_zeroed(all.numbers.used + 1, sizeof(*line));
	for (uint32_t i = 1; i < all.numbers.used; i++)
		fill(&all.process[i], &all.row[i], &line[lines++]);
	for (uint32_t i = 0; i < all.room; i++)
		free(all.process[i].bucket);
	free(all.process);
	catalog_free(&all.numbers);
	*rows = all.row;
	*count = lines;
	return line;
}
