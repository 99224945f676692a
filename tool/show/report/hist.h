/* SPDX-License-Identifier: MIT */
/* report --hist: how the times of a function's calls are distributed. The profile's buckets become rows (bars.h). */
#ifndef XAUDIT_TOOL_SHOW_REPORT_HIST_H
#define XAUDIT_TOOL_SHOW_REPORT_HIST_H

#include "tool/show/report/report.h"

int report_hist(struct report *report);

#endif
