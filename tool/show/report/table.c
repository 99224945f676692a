/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "tool/show/event_text.h"
#include "tool/show/report/report.h"
#include "tool/tool.h"

static void print_time(const struct report_line *line, uint64_t ns)
{
	char buf[SHOW_TIME_SIZE];

	printf("  %11s", line->row->timed ? show_time(buf, ns) : "-");
}

static void print_cpu(const struct report_line *line, uint64_t ns)
{
	char buf[SHOW_TIME_SIZE];

	printf("  %11s", line->row->timed && ns != XAUDIT_READ_UNKNOWN ? show_time(buf, ns) : "-");
}

static void print_heads(const struct report *report)
{
	static const char *const what[] = { "Function", "Library", "Thread" };
	static const char rule[] = "===========";
	bool avg = report->sort == REPORT_SORT_AVG;

	printf("%s%10s  %11s", report->color->head, "Calls", "Total");
	if (report->info->sched)
		printf("  %11s", "On CPU");
	printf("  %11s", "Self");
	if (report->info->sched)
		printf("  %11s", "Self on CPU");
	printf("  %11s", "Min");
	if (avg)
		printf("  %11s", "Average");
	printf("  %11s  %11s  %11s  %s%s\n%.10s", "Median", "P99", "Max", what[report->by], report->color->off, rule);
	for (int i = 0; i < 6 + avg + 2 * (report->info->sched != 0); i++)
		printf("  %s", rule);
	printf("  ====================\n");
}

/* Last component of a path. */
static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_name(const struct report *report, const struct report_line *line)
{
	const struct xaudit_read_row *row = line->row;
	const struct show_colors *color = report->color;
	char buf[SHOW_TIME_SIZE];

	switch (report->by) {
	case XAUDIT_READ_BY_FUNCTION:
		printf("  %s", color->name);
		names_print(stdout, row->name);
		printf("%s %s[", color->off, color->dim);
		tool_text(stdout, base(row->library));
		printf("]%s", color->off);
		if (row->throttled)
			printf(" %s(times until %s, then only counted)%s", color->warn,
				show_time(buf, row->throttled_after), color->off);
		putchar('\n');
		break;
	case XAUDIT_READ_BY_LIBRARY:
		printf("  %s", color->name);
		term_text(stdout, row->library);
		printf("%s\n", color->off);
		break;
	case XAUDIT_READ_BY_THREAD:
		printf("  %" PRIu32 " %s", row->tid, color->name);
		tool_text(stdout, row->name ? row->name : "");
		printf("%s %s[process %" PRIu32 "]%s\n", color->off, color->dim, row->pid, color->off);
		break;
	}
}

/* A second table, of custom events, if there are any. */
static void print_events(const struct report *report)
{
	const struct show_colors *color = report->color;

	if (!report->info->customs)
		return;
	printf("\n%s%10s  %11s  %s%s\n==========  ===========  ====================\n", color->head, "Events", "Bytes",
		"Type", color->off);
	for (uint32_t i = 0; i < report->info->customs && !show_output_broken(); i++) {
		const struct xaudit_read_custom *row = xaudit_read_profile_custom(report->profile, i);
		printf("%10" PRIu64 "  %11" PRIu64 "  %s", row->count, row->bytes, color->name);
		event_type(stdout, row->type, row->number);
		printf("%s\n", color->off);
	}
}

/* Lines about what the numbers leave out. */
static void print_remarks(const struct report *report)
{
	const struct xaudit_read_profile_info *info = report->info;
	const struct show_colors *color = report->color;

	printf("\n%s%" PRIu64 " events lost%s, %" PRIu64 " calls unfinished\n", info->lost ? color->warn : "",
		info->lost, info->lost ? color->off : "", info->unfinished);
	if (info->points)
		printf("%" PRIu64 " calls were traced at the entry only: they have no time\n", info->points);
	if (info->counted)
		printf("%" PRIu64 " calls were only counted: they have no time\n", info->counted);
	if (info->no_end)
		printf("%" PRIu64 " calls have no time: recording of functions was switched off in them\n",
			info->no_end);
	if (info->cpu_unknown)
		printf("of %" PRIu64 " calls it is not known how long they were on processors: switches were lost\n",
			info->cpu_unknown);
	if (info->orphans)
		printf("%" PRIu64 " returns of calls that are not in the trace were left out\n", info->orphans);
	if (info->inherited)
		printf("%" PRIu64 " returns in forked processes of calls that their parents began were left out\n",
			info->inherited);
	if (info->customs_unfinished)
		printf("%" PRIu64 " custom events were not finished: they were left out\n", info->customs_unfinished);
	if (info->overwritten)
		printf("the flight recorder holds the newest events: %" PRIu64 " chunks before them were overwritten\n",
			info->overwritten);
	if (info->crashes)
		printf("%sthe process ended by signal %d%s\n", color->warn, info->signal, color->off);
}

void report_table_print(const struct report *report)
{
	print_heads(report);
	for (uint32_t i = 0; i < report->lines && !show_output_broken(); i++) {
		const struct report_line *line = &report->line[i];

		printf("%10" PRIu64, line->row->calls);
		print_time(line, line->row->total);
		if (report->info->sched)
			print_cpu(line, line->row->cpu);
		print_time(line, line->row->self);
		if (report->info->sched)
			print_cpu(line, line->row->cpu_self);
		print_time(line, line->row->min);
		if (report->sort == REPORT_SORT_AVG)
			print_time(line, line->avg);
		print_time(line, line->p50);
		print_time(line, line->p99);
		print_time(line, line->row->max);
		print_name(report, line);
	}
	print_events(report);
	term_rows(false);
	print_remarks(report);
}
