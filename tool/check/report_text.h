/* SPDX-License-Identifier: MIT */
/* The report as text: each finding when it is found, and a line at the end. */
#ifndef XAUDIT_TOOL_CHECK_REPORT_TEXT_H
#define XAUDIT_TOOL_CHECK_REPORT_TEXT_H

struct check_form;

extern const struct check_form check_text;

#endif
