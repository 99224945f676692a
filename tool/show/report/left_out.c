/* SPDX-License-Identifier: MIT */
#include "tool/show/report/left_out.h"

#include <inttypes.h>

#include "tool/base/tool.h"
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
	printf("\n%s%" PRIu64 " event%s lost%s, %" PRIu64 " call%s unfinished\n", left->lost ? color->warn : "",
		left->lost, show_s(left->lost), left->lost ? color->off : "", left->unfinished,
		show_s(left->unfinished));
	show_points(left->points);
	show_counted(left->counted);
	if (left->no_end)
		printf("%" PRIu64 " call%s no time: recording of functions was switched off in %s\n", left->no_end,
			left->no_end == 1 ? " has" : "s have", left->no_end == 1 ? "it" : "them");
	show_cpu_unknown(left->cpu_unknown);
	if (left->orphans)
		printf("%" PRIu64 " return%s not in the trace %s left out\n", left->orphans,
			left->orphans == 1 ? " of a call that is" : "s of calls that are",
			left->orphans == 1 ? "was" : "were");
	if (left->inherited)
		printf("%" PRIu64 " return%s in forked processes of calls that their parents began %s left out\n",
			left->inherited, show_s(left->inherited), left->inherited == 1 ? "was" : "were");
	if (left->customs_unfinished)
		printf("%" PRIu64 " custom event%s not finished: %s left out\n", left->customs_unfinished,
			left->customs_unfinished == 1 ? " was" : "s were",
			left->customs_unfinished == 1 ? "it was" : "they were");
	if (left->overwritten)
		printf("the ring holds the newest events: %" PRIu64 " buffer%s before them %s overwritten\n",
			left->overwritten, show_s(left->overwritten), left->overwritten == 1 ? "was" : "were");
	if (left->crashes)
		printf("%sthe process ended by signal %d%s\n", color->warn, left->signal, color->off);
}

void left_say(const struct report_left *left)
{
	if (left->lost)
		tool_error("report", "%" PRIu64 " event%s lost, %" PRIu64 " call%s unfinished", left->lost,
			left->lost == 1 ? " was" : "s were", left->unfinished,
			left->unfinished == 1 ? " is" : "s are");
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
