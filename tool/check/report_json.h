/* SPDX-License-Identifier: MIT */
/* The report as one JSON object. */
#ifndef XAUDIT_TOOL_CHECK_REPORT_JSON_H
#define XAUDIT_TOOL_CHECK_REPORT_JSON_H

struct check_form;

extern const struct check_form check_json;

#endif
