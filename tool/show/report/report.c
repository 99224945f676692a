/* SPDX-License-Identifier: MIT */
/* xaudit report: calls and times per function, library or thread. tool/read/profile/count.h tells what is counted. */
#include <stdlib.h>

#include "tool/memory.h"
#include "tool/show/open.h"
#include "tool/show/report/report.h"
#include "tool/tool.h"

struct own {
	struct show_options options;
	int sort, by; /* enum report_sort, enum xaudit_read_by */
};

static const struct options_row rows[] = {
	{ 0, "sort", "KEY", "by calls, total (default), self, avg, or max",
		.take = options_word, .at = offsetof(struct own, sort), .allowed = "calls, total, self, avg or max" },
	{ 0, "by", "WHAT", "a line per function (default), library, or thread",
		.take = options_word, .at = offsetof(struct own, by), .allowed = "function, library or thread" },
	SHOW_FORMAT("table or json", "table (default) or json"),
	SHOW_ROWS
};

static const struct options_syntax syntax = {
	.command = "report",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit report [OPTION]... [DIR]\n"
		"Shows calls and times per function from the trace in DIR (default: xaudit.data).\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"Times: total counts a recursive call once, self leaves out traced calls in between,\n"
		"the others are of single calls from entry to return.\n",
};

int report_main(int argc, char **argv)
{
	struct own own = { .sort = REPORT_SORT_TOTAL, .by = XAUDIT_READ_BY_FUNCTION };
	int status = show_begin(&own.options, &syntax, argc, argv);

	if (status >= 0)
		return status;

	struct xaudit_read_trace *trace = show_trace(own.options.dir, own.options.pid);
	if (!trace)
		return TOOL_FAILED;

	struct xaudit_read_profile_options options = { .size = sizeof(options), .by = own.by };
	struct xaudit_read_profile *profile = memory_need(xaudit_read_profile(&trace, 1, &options, NULL));
	struct report report = {
		.by = own.by,
		.sort = own.sort,
		.profile = profile,
		.info = xaudit_read_profile_info(profile),
		.color = show_colors(&own.options),
	};
	report_lines_make(&report);
	if (own.options.json)
		report_json_print(&report);
	else
		report_table_print(&report);
	if (!own.options.json)
		show_say_coarse_trace(trace, "");
	free(report.line);
	xaudit_read_profile_close(profile);
	return show_end_trace(trace);
}
