/* SPDX-License-Identifier: MIT */
/* The report for people, as xaudit-locks(1) has it. One thread. */
#ifndef XAUDIT_TOOL_LOCKS_SHOW_TEXT_H
#define XAUDIT_TOOL_LOCKS_SHOW_TEXT_H

struct locks_view;

void locks_print_text(const struct locks_view *view);

#endif
