/* SPDX-License-Identifier: MIT */
#include "tool/show/report/by_request.h"

#include "tool/base/json.h"
#include "tool/base/tool.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/nested.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"
#include "tool/show/report/tally_print.h"
#include "tool/show/term/term.h"

#define REQUESTS_MOST 100000 /* what is more becomes one row */

/* Numbers of rows that are of no request of their own: their text is NULL, and `library` says what they are. */
enum special { NONE = 1, OTHERS };

struct by_request {
	struct report *report;
	struct catalog requests, names;
	struct nested nested;
	struct tallies rows; /* key: the request, and the function or library, or 0 */
	bool some; /* a call that belongs to one */
};

static void begin(void *user, uint32_t trace)
{
	struct by_request *by = user;

	(void)trace;
	nested_clear(&by->nested);
	catalog_next_trace(&by->names);
}

static uint32_t row_of(struct by_request *by, const struct xaudit_read_call *call)
{
	uint32_t request = NONE, what = 0;

	if (call->request) {
		by->some = true;
		request = by->requests.used <= REQUESTS_MOST + OTHERS
				  ? catalog_number(&by->requests, call->request, NULL)
				  : catalog_find(&by->requests, call->request, NULL);
		request = request ? request : OTHERS;
	}
	if (by->report->by == XAUDIT_READ_BY_FUNCTION)
		what = catalog_function(&by->names, call->function);
	else if (by->report->by == XAUDIT_READ_BY_LIBRARY)
		what = catalog_number(&by->names, NULL, call->function->object->path);
	return tallies_find(&by->rows, request, what, 0);
}

static void take(void *user, const struct xaudit_read_item *item)
{
	struct by_request *by = user;
	struct xaudit_read_call *call = item->call;
	uint64_t total;

	if (item->what == XAUDIT_READ_ENTER)
		nested_enter(&by->nested, call, row_of(by, call));
	if (item->what != XAUDIT_READ_CALL)
		return;
	uint64_t time = tally_is_timed(call) ? call->ticks.self + call->ticks.children : XAUDIT_READ_UNKNOWN;
	uint32_t row = nested_end(&by->nested, call, time, &total);
	/* Of a call that is recorded at its entry only, the beginning is not told. */
	tallies_add(&by->rows, row ? row : row_of(by, call), call, total);
}

/* ---- printing ---- */

static const struct by_request *compared;

static int compare(const void *row, const void *other)
{
	const struct tally *x = row, *y = other;
	int order = catalog_compare(&compared->requests, x->key[0], y->key[0]);

	return order || x->key[1] == y->key[1] ? order : catalog_compare(&compared->names, x->key[1], y->key[1]);
}

static void print_line(const void *of, const struct report_line *line)
{
	const struct by_request *by = of;
	const struct show_colors *color = by->report->color;
	const struct tally *tally = line->row;
	const struct catalog_name *request = &by->requests.name[tally->key[0]], *name = &by->names.name[tally->key[1]];

	if (request->name) {
		fputs(color->name, stdout);
		term_text(stdout, request->name);
	} else {
		printf("%s(%s)", color->dim, request->library);
	}
	fputs(color->off, stdout);
	if (tally->key[1]) {
		fputs(": ", stdout);
		report_print_function(by->report, name->name, name->library);
	}
	putchar('\n');
}

static void json_line(const void *of, const struct report_line *line)
{
	const struct by_request *by = of;
	const struct tally *tally = line->row;
	const struct catalog_name *request = &by->requests.name[tally->key[0]], *name = &by->names.name[tally->key[1]];

	printf("{\"request\":");
	json_string(stdout, request->name);
	if (!request->name)
		printf(",\"special\":\"%s\"", request->library);
	putchar(',');
	report_json_what(by->report, tally->key[1] ? name : NULL);
	columns_json(&by->report->columns, line);
	putchar('}');
}

static void csv_line(const void *of, const struct report_line *line)
{
	const struct by_request *by = of;
	struct csv *csv = &by->report->csv;

	if (!line) {
		csv_heads(csv, "request,special");
		report_csv_what_heads(by->report);
		return;
	}
	const struct tally *tally = line->row;
	const struct catalog_name *request = &by->requests.name[tally->key[0]];
	csv_text(csv, request->name);
	csv_text(csv, request->name ? NULL : request->library);
	report_csv_what(by->report, &by->names.name[tally->key[1]]);
}

static void print(struct by_request *by)
{
	static const char *const heads[] = { "Request", "Request: Function", "Request: Library" };
	const struct tally_table table = { .head = heads[by->report->by + 1],
		.shares = by->report->by == REPORT_BY_DEFAULT, .compare = compare, .print = print_line,
		.json = json_line, .csv = csv_line, .of = by };

	compared = by;
	report_meet(&by->names);
	tally_print(by->report, &by->rows, &table);
}

int report_by_request(struct report *report)
{
	struct by_request by = { .report = report };
	const struct report_calls calls = {
		.enters = true, .requests = true, .begin = begin, .take = take, .rows = &by.rows, .user = &by
	};
	int status = TOOL_OK;

	/* Their numbers are known: enum special. */
	catalog_number(&by.requests, NULL, "none");
	catalog_number(&by.requests, NULL, "others");
	report_each(report, &calls);
	if (by.some) {
		print(&by);
	} else {
		tool_error("report", "no call of a request is in the trace");
		status = TOOL_FAILED;
	}
	nested_clear(&by.nested);
	tallies_free(&by.rows);
	catalog_free(&by.requests);
	catalog_free(&by.names);
	return status;
}
