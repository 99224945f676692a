/* SPDX-License-Identifier: MIT */
/*
 * report --by=process: the rows of the threads of a process, added up. Since a thread's total is that of its outermost
 * calls, so is the process's. Percentiles are found in the buckets of all of its threads together. So it is with
 * --by=host, program and command, of processes: there a process that executed another program is two.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_PROCESS_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_PROCESS_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/report/report.h"

/* Has report->by such rows? */
static inline bool report_adds_rows(const struct report *report)
{
	return report->by == REPORT_BY_PROCESS || report->by >= REPORT_BY_HOST;
}

/* What the profile must be by, which they are made of. */
int report_adds_rows_of(const struct report *report);

/*
 * The lines of the processes, hosts, ... in such a profile, not sorted; the caller frees them, and *rows, where their
 * rows are. Their name: what was executed, the host, ...; NULL: that is not recorded.
 */
struct report_line *report_process_lines(
	const struct report *report, const struct xaudit_read_profile *profile, uint32_t *count, void **rows);

#endif
