/* SPDX-License-Identifier: MIT */
/*
 * The parts of `xaudit report`: report.c takes the options and has the trace counted, lines.c sorts, table.c and json.c
 * print. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_H
#define XAUDIT_TOOL_SHOW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/show.h"

/* Keys of --sort, in the order of its words. */
enum report_sort { REPORT_SORT_CALLS, REPORT_SORT_TOTAL, REPORT_SORT_SELF, REPORT_SORT_AVG, REPORT_SORT_MAX };

/* A row, and what is computed of it. */
struct report_line {
	const struct xaudit_read_row *row;
	uint64_t p50, p90, p99, avg; /* ns; 0 if no call has a time */
	uint64_t key;
};

struct report {
	int by;	  /* enum xaudit_read_by */
	int sort; /* enum report_sort */
	const struct xaudit_read_profile *profile;
	const struct xaudit_read_profile_info *info;
	struct report_line *line;
	uint32_t lines;
	const struct show_colors *color;
};

/* ---- lines.c ---- */

/* Makes the lines of the profile, sorted. */
void report_lines_make(struct report *report);

/* ---- table.c, json.c ---- */

void report_table_print(const struct report *report);
void report_json_print(const struct report *report);

#endif
