/* SPDX-License-Identifier: MIT */
/* Answers --by-value: the calls of each function by one of their values, as its arguments or its result. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_VALUE_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_VALUE_H

struct report;

/* Returns the exit status, without regard to damage. */
int report_by_value(struct report *report);

#endif
