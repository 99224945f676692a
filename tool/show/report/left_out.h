/* SPDX-License-Identifier: MIT */
/* What the numbers of a report leave out: the lines below a table, and members in JSON. One thread. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_LEFT_OUT_H
#define XAUDIT_TOOL_SHOW_REPORT_LEFT_OUT_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

/* What the numbers leave out, as xaudit_read_profile_info and xaudit_read_sums tell it. */
struct report_left {
	uint64_t lost, unfinished, orphans, inherited, points, counted, no_end, cpu_unknown;
	uint64_t overwritten, customs_unfinished, crashes;
	int signal;
};

struct report;

void left_add_profile(struct report_left *left, const struct xaudit_read_profile_info *info);
void left_add_calls(struct report_left *left, const struct xaudit_read_sums *sums);

/* Lines below a table, the first one empty. */
void left_print(const struct report *report);

/* Of CSV, which has no room for them: one line on stderr, if anything was lost. */
void left_say(const struct report_left *left);

/* "lost":0,"unfinished":0 for the beginning of an object, and the rest, ,"counted":0 ..., for its end. */
void left_json_begin(const struct report_left *left);
void left_json_end(const struct report_left *left);

#endif
