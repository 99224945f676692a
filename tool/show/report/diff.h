/* SPDX-License-Identifier: MIT */
/*
 * report --diff: two runs, function by function; the same function is the one of the same name in the same library.
 *
 * The order shall begin with the function that is to blame, not with those that call it: so it goes by self time. And
 * what only varies shall not stand in front of what changed: so of the change of a function's self time that part
 * counts which comes from more or fewer calls, and, if compare.h finds the calls to be of another length, the part that
 * comes from that.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_DIFF_H
#define XAUDIT_TOOL_SHOW_REPORT_DIFF_H

#include "tool/show/report/report.h"

int report_diff(struct report *report);

#endif
