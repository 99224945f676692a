/* SPDX-License-Identifier: MIT */
#include "tool/show/report/row_names.h"

#include <inttypes.h>

#include "tool/base/json.h"
#include "tool/base/tool.h"
#include "tool/show/report/report.h"
#include "tool/show/term/srcline.h"

void report_print_function(const struct report *report, const char *name, const char *library)
{
	const struct show_colors *color = report->color;

	if (!name && !library) {
		printf("%s(none)%s", color->dim, color->off);
		return;
	}
	fputs(color->name, stdout);
	if (name)
		names_print(stdout, name);
	else
		term_text(stdout, library);
	fputs(color->off, stdout);
	if (!name || !library)
		return;
	printf(" %s[", color->dim);
	tool_text(stdout, tool_base(library));
	putchar(']');
	srcline_print_named(stdout, library, name);
	fputs(color->off, stdout);
}

void report_json_function(const char *name, const char *library)
{
	printf("\"function\":");
	json_string(stdout, name);
	if (name)
		names_json(stdout, name);
	printf(",\"library\":");
	json_string(stdout, library);
	srcline_json_named(stdout, library, name);
}

void report_print_process(const struct report *report, const char *folder, uint32_t pid)
{
	printf(" %s[", report->color->dim);
	if (report->traces > 1) {
		tool_text(stdout, folder);
		fputs(": ", stdout);
	}
	printf("process %" PRIu32 "]%s", pid, report->color->off);
}

void report_json_process(const struct report *report, const char *folder, uint32_t pid)
{
	printf("\"pid\":%" PRIu32, pid);
	if (report->traces > 1) {
		printf(",\"folder\":");
		json_string(stdout, folder);
	}
}
