/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tool/memory.h"
#include "tool/show/report/report.h"

/* Falling by the key; of equal ones, the one with more calls first, then in the order of the profile. */
static int by_key(const void *a, const void *b)
{
	const struct report_line *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->row->calls != y->row->calls)
		return x->row->calls > y->row->calls ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static uint64_t key_of(const struct report_line *line, int sort)
{
	switch (sort) {
	case REPORT_SORT_CALLS:
		return line->row->calls;
	case REPORT_SORT_TOTAL:
		return line->row->total;
	case REPORT_SORT_SELF:
		return line->row->self;
	case REPORT_SORT_AVG:
		return line->avg;
	default:
		return line->row->max;
	}
}

void report_lines_make(struct report *report)
{
	const struct xaudit_read_profile *profile = report->profile;

	report->lines = report->info->rows;
	report->line = memory_zeroed(report->lines, sizeof(*report->line));
	for (uint32_t i = 0; i < report->lines; i++) {
		const struct xaudit_read_row *row = xaudit_read_profile_row(profile, i);
		struct report_line *line = &report->line[i];

		*line = (struct report_line){
			.row = row,
			.p50 = xaudit_read_profile_percentile(profile, row, 50),
			.p90 = xaudit_read_profile_percentile(profile, row, 90),
			.p99 = xaudit_read_profile_percentile(profile, row, 99),
			.avg = row->timed ? row->sum / row->timed : 0,
		};
		line->key = key_of(line, report->sort);
	}
	qsort(report->line, report->lines, sizeof(*report->line), by_key);
}
