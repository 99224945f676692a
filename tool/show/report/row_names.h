/* SPDX-License-Identifier: MIT */
/* Functions and processes as rows of a report name them. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_ROW_NAMES_H
#define XAUDIT_TOOL_SHOW_REPORT_ROW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/show/report/report.h"

/* "name [library]", without colours where there are none; NULL: "(none)". */
void report_print_function(const struct report *report, const char *name, const char *library);

/* "function":"name","library":"path" */
void report_json_function(const char *name, const char *library);

/* " [process 1]", with the folder where there are several; and "pid":1, with "folder":"..." in that case. */
void report_print_process(const struct report *report, const char *folder, uint32_t pid);
void report_json_process(const struct report *report, const char *folder, uint32_t pid);

#endif
