/* SPDX-License-Identifier: MIT */
/*
 * report --by=process: the rows of the threads of a process, added up. Since a thread's total is that of its outermost
 * calls, so is the process's. Percentiles are found in the buckets of all of its threads together.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_PROCESS_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_PROCESS_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/report/report.h"

/*
 * The lines of the processes in a profile of threads, not sorted; the caller frees them, and *rows, where their rows
 * are.
 */
struct report_line *report_process_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count, void **rows);

#endif
