/* SPDX-License-Identifier: MIT */
#include "tool/show/report/row_names.h"

#include <inttypes.h>
#include <string.h>

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

void report_meet(const struct catalog *functions)
{
	for (uint32_t i = 1; i < functions->used; i++)
		names_meet(functions->name[i].name);
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

void report_json_name(const struct catalog_name *name)
{
	if (!name->probe) {
		report_json_function(name->name, name->library);
		return;
	}
	fputs("\"probe\":", stdout);
	json_string(stdout, name->name + strlen("probe "));
	fputs(",\"library\":", stdout);
	json_string(stdout, name->library);
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

void report_csv_function(struct report *report, const char *name, const char *library)
{
	int number;

	csv_text(&report->csv, name);
	csv_text(&report->csv, name ? names_full(name) : NULL);
	csv_text(&report->csv, library);
	if (!srcline_wanted())
		return;
	const char *file = srcline_named(library, name, &number);
	csv_text(&report->csv, file);
	csv_known(&report->csv, file, (uint64_t)number);
}

void report_csv_function_heads(struct report *report, const char *prefix)
{
	static const char *const head[] = { "function", "demangled", "library", "source", "line" };

	for (unsigned i = 0; i < (srcline_wanted() ? 5 : 3); i++) {
		csv_heads(&report->csv, prefix);
		fputs(head[i], report->csv.to);
	}
}

void report_csv_process(struct report *report, const char *folder, uint32_t pid)
{
	csv_text(&report->csv, folder);
	csv_number(&report->csv, pid);
}

void report_csv_process_heads(struct report *report)
{
	csv_heads(&report->csv, "folder,pid");
}

void report_csv_what(struct report *report, const struct catalog_name *name)
{
	if (report->by == XAUDIT_READ_BY_FUNCTION)
		report_csv_function(report, name->name, name->library);
	else if (report->by == XAUDIT_READ_BY_LIBRARY)
		csv_text(&report->csv, name->library);
}

void report_csv_what_heads(struct report *report)
{
	if (report->by == XAUDIT_READ_BY_FUNCTION)
		report_csv_function_heads(report, "");
	else if (report->by == XAUDIT_READ_BY_LIBRARY)
		csv_heads(&report->csv, "library");
}

void report_json_lines(struct report *report, const struct report_line *line, uint32_t lines,
	void (*print)(const void *of, const struct report_line *line), const void *of)
{
	putchar('{');
	left_json_begin(&report->left);
	printf(",\"rows\":[");
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		fputs(i ? ",\n" : "\n", stdout);
		print(of, &line[i]);
	}
	printf("\n]");
	left_json_end(&report->left);
	puts("}");
}

void report_json_what(const struct report *report, const struct catalog_name *name)
{
	if (name && report->by == XAUDIT_READ_BY_FUNCTION) {
		report_json_function(name->name, name->library);
		putchar(',');
	} else if (name) {
		printf("\"library\":");
		json_string(stdout, name->library);
		putchar(',');
	}
}
