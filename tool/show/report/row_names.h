/* SPDX-License-Identifier: MIT */
/* Functions and processes as rows of a report name them. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_ROW_NAMES_H
#define XAUDIT_TOOL_SHOW_REPORT_ROW_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/show/report/catalog.h"
#include "tool/show/report/report.h"

/* "name [library]", without colours where there are none; NULL: "(none)". */
void report_print_function(const struct report *report, const char *name, const char *library);

/* Before any of them is printed: all functions that may be (names_meet()). */
void report_meet(const struct catalog *functions);

/* "function":"name","library":"path" */
void report_json_function(const char *name, const char *library);

/* The same of a name that may be that of a probe: "probe":"name","library":"path" */
void report_json_name(const struct catalog_name *name);

/* The same, of a library by this alone, by report->by; with a comma behind it; NULL: nothing. */
void report_json_what(const struct report *report, const struct catalog_name *name);

/* The same as fields of CSV; and their heads. The function, with its demangled name, and with --srcline its place. */
void report_csv_function(struct report *report, const char *name, const char *library);
void report_csv_function_heads(struct report *report, const char *prefix);
void report_csv_process(struct report *report, const char *folder, uint32_t pid);
void report_csv_process_heads(struct report *report);

/* report_csv_function(), or the library, by report->by, or nothing. */
void report_csv_what(struct report *report, const struct catalog_name *name);
void report_csv_what_heads(struct report *report);

/* All lines as {...,"rows":[...],...}; print() has the object of one. */
void report_json_lines(struct report *report, const struct report_line *line, uint32_t lines,
	void (*print)(const void *of, const struct report_line *line), const void *of);

/* " [process 1]", with the folder where there are several; and "pid":1, with "folder":"..." in that case. */
void report_print_process(const struct report *report, const char *folder, uint32_t pid);
void report_json_process(const struct report *report, const char *folder, uint32_t pid);

#endif
