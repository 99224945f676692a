/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "tool/show/report/report.h"

void left_add_profile(struct report_left *left, const struct xaudit_read_profile_info *info)
{
	left->lost += info->lost;
	left->unfinished += info->unfinished;
	left->orphans += info->orphans;
	left->inherited += info->inherited;
	left->points += info->points;
	left->counted += info->counted;
	left->no_end += info->no_end;
	left->overwritten += info->overwritten;
	left->customs_unfinished += info->customs_unfinished;
	left->crashes += info->crashes;
	left->cpu_unknown += info->cpu_unknown;
	left->signal = info->crashes ? info->signal : left->signal;
}

void left_add_calls(struct report_left *left, const struct xaudit_read_sums *sums)
{
	left->lost += sums->lost;
	left->unfinished += sums->unfinished;
	left->orphans += sums->orphans;
	left->inherited += sums->inherited;
	left->points += sums->points;
	left->counted += sums->counted;
	left->no_end += sums->off;
	left->overwritten += sums->overwritten;
	left->customs_unfinished += sums->custom_unfinished;
	left->crashes += sums->crashes;
	left->signal = sums->crashes ? sums->signal : left->signal;
}

void left_print(const struct report *report)
{
	const struct report_left *left = &report->left;
	const struct show_colors *color = report->color;

	term_rows(false);
	printf("\n%s%" PRIu64 " events lost%s, %" PRIu64 " calls unfinished\n", left->lost ? color->warn : "",
		left->lost, left->lost ? color->off : "", left->unfinished);
	if (left->points)
		printf("%" PRIu64 " calls were traced at the entry only: they have no time\n", left->points);
	if (left->counted)
		printf("%" PRIu64 " calls were only counted: they have no time\n", left->counted);
	if (left->no_end)
		printf("%" PRIu64 " calls have no time: recording of functions was switched off in them\n",
			left->no_end);
	if (left->cpu_unknown)
		printf("of %" PRIu64 " calls it is not known how long they were on processors: see xaudit info\n",
			left->cpu_unknown);
	if (left->orphans)
		printf("%" PRIu64 " returns of calls that are not in the trace were left out\n", left->orphans);
	if (left->inherited)
		printf("%" PRIu64 " returns in forked processes of calls that their parents began were left out\n",
			left->inherited);
	if (left->customs_unfinished)
		printf("%" PRIu64 " custom events were not finished: they were left out\n", left->customs_unfinished);
	if (left->overwritten)
		printf("the flight recorder holds the newest events: %" PRIu64 " chunks before them were overwritten\n",
			left->overwritten);
	if (left->crashes)
		printf("%sthe process ended by signal %d%s\n", color->warn, left->signal, color->off);
}

void left_json_begin(const struct report_left *left)
{
	printf("\"lost\":%" PRIu64 ",\"unfinished\":%" PRIu64, left->lost, left->unfinished);
}

void left_json_end(const struct report_left *left)
{
	printf(",\"counted\":%" PRIu64 ",\"no_end\":%" PRIu64 ",\"orphans\":%" PRIu64, left->counted, left->no_end,
		left->orphans);
	if (left->inherited)
		printf(",\"inherited\":%" PRIu64, left->inherited);
	printf(",\"overwritten_chunks\":%" PRIu64 ",\"crash_signal\":", left->overwritten);
	if (left->crashes)
		printf("%d", left->signal);
	else
		printf("null");
}
