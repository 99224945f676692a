/* SPDX-License-Identifier: MIT */
/*
 * report --callers and --callees: the calls of a function by who made them, and the calls that it made itself by what
 * they are of. A row is a pair of functions, and counts what its calls add to the report's row of the called function:
 * so the totals of all callers of a function add up to its total, recursion included.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_EDGES_H
#define XAUDIT_TOOL_SHOW_REPORT_EDGES_H

#include "tool/show/report/report.h"

int report_callers(struct report *report);
int report_callees(struct report *report);

#endif
