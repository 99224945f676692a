/* SPDX-License-Identifier: MIT */
/*
 * How often threads came to probes, before and after, for --diff: of several runs of a side, the mean. One more pass
 * over the traces. One thread. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_DIFF_PROBES_H
#define XAUDIT_TOOL_SHOW_REPORT_DIFF_PROBES_H

#include "tool/show/report/report.h"

/* A table, those with the most events in one of the sides first. */
void diff_probes_print(const struct report *report);

/* ,"probes":[{"probe":"name","library":"path","old":1.00,"new":2.00},...] */
void diff_probes_json(const struct report *report);

#endif
