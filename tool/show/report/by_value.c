/* SPDX-License-Identifier: MIT */
#include "tool/show/report/by_value.h"

#include <stdlib.h>

#include "tool/base/json.h"
#include "tool/base/tool.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"
#include "tool/show/report/tally_print.h"
#include "tool/show/term/term.h"
#include "tool/show/values.h"

#define TEXTS_MOST 100000 /* of values; what is more becomes one row for each function */

/* The number of the values that have none of their own. */
#define OTHERS 1

struct by_value {
	struct report *report;
	struct catalog texts, names; /* of values, of functions */
	struct tallies rows;	     /* key: the value's text, and the function, or the probe */
	uint32_t trace;		     /* at hand */
};

static void begin(void *user, uint32_t trace)
{
	struct by_value *by = user;

	by->trace = trace;
	catalog_next_trace(&by->names);
}

/* NULL: it has no such value. */
static char *text_of(const struct by_value *by, const struct xaudit_read_item *item)
{
	if (item->what == XAUDIT_READ_CALL)
		return values_named(item->call, by->report->by_value);
	if (item->what != XAUDIT_READ_PROBE || !item->values || !report_takes_probe(by->report, by->trace, item))
		return NULL;
	return values_one(item->values, by->report->by_value);
}

/* A call that is over, or a thread at a probe; those that have no such value are left out. */
static void take(void *user, const struct xaudit_read_item *item)
{
	struct by_value *by = user;
	char *text = text_of(by, item);

	if (!text)
		return;
	bool is_call = item->what == XAUDIT_READ_CALL;
	uint32_t value = by->texts.used <= TEXTS_MOST + OTHERS ? catalog_number(&by->texts, text, NULL) :
								 catalog_find(&by->texts, text, NULL);
	uint32_t name = is_call ? catalog_function(&by->names, item->call->function) :
				  catalog_probe(&by->names, item->probe);
	uint32_t row = tallies_find(&by->rows, value ? value : OTHERS, name, 0);

	if (is_call)
		tallies_add(&by->rows, row, item->call, item->call->ticks.total);
	else
		by->rows.tally[row].calls++;
	free(text);
}

/* ---- printing ---- */

static const struct by_value *compared;

static int compare(const void *row, const void *other)
{
	const struct tally *x = row, *y = other;
	int order = catalog_compare(&compared->names, x->key[1], y->key[1]);

	return order ? order : catalog_compare(&compared->texts, x->key[0], y->key[0]);
}

static void print_line(const void *of, const struct report_line *line)
{
	const struct by_value *by = of;
	const struct show_colors *color = by->report->color;
	const struct tally *tally = line->row;
	const struct catalog_name *text = &by->texts.name[tally->key[0]], *name = &by->names.name[tally->key[1]];

	fputs(text->name ? color->name : color->dim, stdout);
	term_text(stdout, text->name ? text->name : "(others)");
	printf("%s: ", color->off);
	report_print_function(by->report, name->name, name->library);
	putchar('\n');
}

static void json_line(const void *of, const struct report_line *line)
{
	const struct by_value *by = of;
	const struct tally *tally = line->row;
	const struct catalog_name *name = &by->names.name[tally->key[1]];

	printf("{\"value\":");
	json_string(stdout, by->texts.name[tally->key[0]].name);
	putchar(',');
	report_json_name(name);
	putchar(',');
	columns_json(&by->report->columns, line);
	putchar('}');
}

static void csv_line(const void *of, const struct report_line *line)
{
	const struct by_value *by = of;
	struct csv *csv = &by->report->csv;

	if (!line) {
		csv_heads(csv, "value,special");
		report_csv_function_heads(by->report, "");
		return;
	}
	const struct tally *tally = line->row;
	const struct catalog_name *text = &by->texts.name[tally->key[0]], *name = &by->names.name[tally->key[1]];
	csv_text(csv, text->name);
	csv_text(csv, text->name ? NULL : text->library);
	report_csv_function(by->report, name->name, name->library);
}

static void print(struct by_value *by)
{
	const struct tally_table table = { .head = "Value: Function", .compare = compare, .print = print_line,
		.json = json_line, .csv = csv_line, .of = by };

	compared = by;
	report_meet(&by->names);
	tally_print(by->report, &by->rows, &table);
}

int report_by_value(struct report *report)
{
	struct by_value by = { .report = report };
	const struct report_calls calls = {
		.probes = true, .values = true, .begin = begin, .take = take, .rows = &by.rows, .user = &by
	};
	int status = TOOL_OK;

	catalog_number(&by.texts, NULL, "others");
	report_each(report, &calls);
	if (by.rows.used > 1) {
		print(&by);
	} else {
		tool_error("report", "no call with a value '%s' is in the trace", report->by_value);
		status = TOOL_FAILED;
	}
	tallies_free(&by.rows);
	catalog_free(&by.texts);
	catalog_free(&by.names);
	return status;
}
