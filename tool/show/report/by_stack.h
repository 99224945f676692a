/* SPDX-License-Identifier: MIT */
/* xaudit report --by=stack: calls and times of each function by the backtrace that was recorded with them. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BY_STACK_H
#define XAUDIT_TOOL_SHOW_REPORT_BY_STACK_H

#include "tool/show/report/report.h"

/* Returns the exit status. */
int report_by_stack(struct report *report);

#endif
