/* SPDX-License-Identifier: MIT */
/* The report for programs: all rows that there are, in the order of the text. One thread. */
#ifndef XAUDIT_TOOL_LOCKS_SHOW_JSON_H
#define XAUDIT_TOOL_LOCKS_SHOW_JSON_H

struct locks_view;

void locks_print_json(const struct locks_view *view);

#endif
