/* SPDX-License-Identifier: MIT */
#include "tool/memory.h"
#include "tool/show/open.h"
#include "tool/show/report/report.h"
#include "tool/show/term/progress.h"
#include "tool/show/term/term.h"
#include "tool/tool.h"

static void each_of(struct report *report, const struct report_calls *calls, uint32_t trace)
{
	uint64_t start = xaudit_read_trace_info(report->trace[trace])->start;
	struct xaudit_read_calls_options options = {
		.size = sizeof(options),
		.enters = calls->enters,
		.customs = calls->customs,
		/* It is not known whose they are, or when they were made. */
		.counted = !report->tid && !report->from && !report->to,
		.tid = report->tid,
		.from = report->from ? start + report->from : 0,
		.to = report->to ? start + report->to : 0,
	};
	struct xaudit_read_calls *cursor = memory_need(xaudit_read_calls(report->trace[trace], &options, NULL));
	struct xaudit_read_item item;
	uint64_t done, all;
	uint32_t count = 0;

	if (calls->begin)
		calls->begin(calls->user, trace);
	while (xaudit_read_next_call(cursor, &item) > XAUDIT_READ_END) {
		calls->take(calls->user, &item);
		if (++count & 0xffff)
			continue;
		xaudit_read_calls_done(cursor, &done, &all);
		progress(done, all);
	}
	progress_end();
	show_trace_need_memory(report->trace[trace]);
	left_add_calls(&report->left, xaudit_read_calls_sums(cursor));
	xaudit_read_calls_close(cursor);
}

void report_each(struct report *report, const struct report_calls *calls)
{
	for (uint32_t i = 0; i < report->traces; i++)
		each_of(report, calls, i);
}

void report_columns(struct report *report, const uint8_t *usual, unsigned count)
{
	if (report->options.json)
		columns_default_json(&report->columns, report->sched);
	else
		columns_default(&report->columns, usual, count, (unsigned)report->sort, report->sched);
	/* A column of --diff has another one beside it, and there is one for marks. */
	columns_fit(&report->columns, report->options.json ? 0 : term_columns(), (unsigned)report->sort,
		report->diff ? 6 : 0, report->diff ? 11 : 0);
}

int report_no_function(const char *pattern)
{
	tool_error("report", "no call of a function '%s' is in the trace", pattern);
	return TOOL_FAILED;
}
