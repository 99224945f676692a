/* SPDX-License-Identifier: MIT */
/* report without a question: a line per function, library or thread, as the profile has counted them. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_PROFILE_H
#define XAUDIT_TOOL_SHOW_REPORT_PROFILE_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/report/report.h"

int report_profile(struct report *report);

/* Counts the traces. by: enum xaudit_read_by. The caller closes the profile. */
struct xaudit_read_profile *report_count(struct report *report, int by);

/* The same of so many traces from the first on, without what was left out. */
struct xaudit_read_profile *report_count_some(const struct report *report, int by, uint32_t first, uint32_t traces);

/* Its lines, sorted; their rows are struct xaudit_read_row. The caller frees them. */
struct report_line *report_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count);

/* The values of a row but its percentiles. */
void columns_row(const struct xaudit_read_row *row, struct report_line *line);

#endif
