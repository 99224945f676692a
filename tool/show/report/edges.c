/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/report/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/probe_text.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/each_call.h"
#include "tool/show/report/left_out.h"
#include "tool/show/report/report.h"
#include "tool/show/report/row_names.h"
#include "tool/show/report/tally.h"
#include "tool/show/term/meant.h"

#define ITSELF UINT32_MAX /* as second number of a key: all calls of the function */

struct edges {
	struct report *report;
	const char *pattern;
	bool callees;
	struct catalog names;
	/* Of the trace at hand, by number of the function, or of the probe: 0: not known, 1: no, 2: yes */
	uint8_t *chosen, *chosen_probe;
	uint32_t chosen_room, chosen_probes;
	struct tallies rows; /* key: the function, and its caller or callee; 0: none */
	uint32_t trace;	     /* at hand */
	/* When all are there: by[first[n]] ... by[first[n + 1] - 1] are the rows of function n. */
	uint32_t *by, *first;
};

static uint8_t *known_of(uint8_t **known, uint32_t *room, uint32_t number)
{
	if (number >= *room) {
		uint32_t more = (number + 1) * 2;
		*known = memory_resize(*known, more, 1);
		memset(*known + *room, 0, more - *room);
		*room = more;
	}
	return *known + number;
}

static bool is_chosen(struct edges *edges, const struct xaudit_read_function *function)
{
	uint8_t *chosen = known_of(&edges->chosen, &edges->chosen_room, function->number);

	if (!*chosen)
		*chosen = 1 + names_mean_any(edges->pattern, function->name, function->aliases, function->object->path);
	return *chosen == 2;
}

static bool is_chosen_probe(struct edges *edges, const struct xaudit_read_probe *probe)
{
	uint8_t *chosen = known_of(&edges->chosen_probe, &edges->chosen_probes, probe->number);

	if (!*chosen)
		*chosen = 1 + probe_named(edges->pattern, probe);
	return *chosen == 2;
}

static void begin(void *user, uint32_t trace)
{
	struct edges *edges = user;

	edges->trace = trace;
	catalog_next_trace(&edges->names);
	if (edges->chosen)
		memset(edges->chosen, 0, edges->chosen_room);
	if (edges->chosen_probe)
		memset(edges->chosen_probe, 0, edges->chosen_probes);
}

static void add(struct edges *edges, const struct xaudit_read_call *call, uint32_t function, uint32_t other)
{
	uint32_t row = tallies_find(&edges->rows, function, other, 0);

	tallies_add(&edges->rows, row, call, call->ticks.total);
}

/* A thread came to a probe of that name: the innermost call is who called. */
static void take_probe(struct edges *edges, const struct xaudit_read_item *item)
{
	const struct xaudit_read_call *around = item->call;

	if (!is_chosen_probe(edges, item->probe))
		return;
	uint32_t probe = catalog_probe(&edges->names, item->probe), row = tallies_find(&edges->rows, probe, ITSELF, 0);
	if (item->what == XAUDIT_READ_PROBES_COUNTED) {
		edges->rows.tally[row].calls += item->count;
		edges->rows.tally[row].counted += item->count;
		return;
	}
	if (!report_takes_probe(edges->report, edges->trace, item))
		return;
	uint32_t caller = around ? catalog_function(&edges->names, around->function) : 0;
	edges->rows.tally[row].calls++;
	row = tallies_find(&edges->rows, probe, caller, 0);
	edges->rows.tally[row].calls++;
}

static void take(void *user, const struct xaudit_read_item *item)
{
	struct edges *edges = user;
	const struct xaudit_read_call *call = item->call, *around;

	if (item->what == XAUDIT_READ_COUNTED && is_chosen(edges, item->function)) {
		uint32_t row = tallies_find(&edges->rows, catalog_function(&edges->names, item->function), ITSELF, 0);
		edges->rows.tally[row].calls += item->count;
		edges->rows.tally[row].counted += item->count;
	}
	if (item->what == XAUDIT_READ_PROBE || item->what == XAUDIT_READ_PROBES_COUNTED)
		take_probe(edges, item);
	if (item->what != XAUDIT_READ_CALL)
		return;
	around = call->parent;
	if (is_chosen(edges, call->function)) {
		uint32_t function = catalog_function(&edges->names, call->function);
		add(edges, call, function, ITSELF);
		if (!edges->callees)
			add(edges, call, function, around ? catalog_function(&edges->names, around->function) : 0);
	}
	if (edges->callees && around && is_chosen(edges, around->function)) {
		uint32_t function = catalog_function(&edges->names, around->function);
		add(edges, call, function, catalog_function(&edges->names, call->function));
		tallies_find(&edges->rows, function, ITSELF, 0); /* it has a table, whatever becomes of its own call */
	}
}

/* ---- printing ---- */

static const struct edges *compared;

static int compare(const void *row, const void *other)
{
	const struct tally *x = row, *y = other;
	int order = catalog_compare(&compared->names, x->key[0], y->key[0]);

	/* All but one line of a table have the same first number, or the same second one. */
	return order ? order :
		x->key[1] == y->key[1] || x->key[1] == ITSELF || y->key[1] == ITSELF ?
		       0 :
		       catalog_compare(&compared->names, x->key[1], y->key[1]);
}

/* Puts the rows of each function together, by counting them: there may be a hundred thousand functions. */
static void sort_rows(struct edges *edges)
{
	uint32_t *first = memory_zeroed(edges->names.used + 1, sizeof(*first));

	for (uint32_t i = 1; i < edges->rows.used; i++)
		first[edges->rows.tally[i].key[0] + 1]++;
	for (uint32_t n = 0; n < edges->names.used; n++)
		first[n + 1] += first[n];
	edges->by = memory_zeroed(edges->rows.used + 1, sizeof(*edges->by));
	/* From the end on, so that `first` of the next one goes down to where its rows begin. */
	for (uint32_t i = edges->rows.used; i > 1; i--)
		edges->by[--first[edges->rows.tally[i - 1].key[0] + 1]] = i - 1;
	memmove(first, first + 1, edges->names.used * sizeof(*first));
	first[edges->names.used] = edges->rows.used ? edges->rows.used - 1 : 0;
	edges->first = first;
}

static void sort_lines(const struct edges *edges, struct report_line *line, uint32_t count)
{
	const struct report *report = edges->report;

	compared = edges;
	columns_sort(line, count, report->sort == COLUMNS ? COLUMN_TOTAL : (enum report_column)report->sort, compare);
}

/* The lines of a function's callers or callees, sorted. */
static struct report_line *make_lines(const struct edges *edges, uint32_t function, uint32_t *count)
{
	uint32_t begin = edges->first[function], end = edges->first[function + 1];
	struct report_line *line = memory_zeroed(end - begin + 1, sizeof(*line));

	*count = 0;
	for (uint32_t i = begin; i < end; i++) {
		const struct tally *tally = &edges->rows.tally[edges->by[i]];
		if (tally->key[1] != ITSELF)
			tally_line(tally, &line[(*count)++]);
	}
	sort_lines(edges, line, *count);
	return line;
}

/* Those of the chosen functions themselves. */
static struct report_line *make_functions(const struct edges *edges, uint32_t *count)
{
	struct report_line *line = memory_zeroed(edges->rows.used + 1, sizeof(*line));

	*count = 0;
	for (uint32_t i = 1; i < edges->rows.used; i++)
		if (edges->rows.tally[i].key[1] == ITSELF)
			tally_line(&edges->rows.tally[i], &line[(*count)++]);
	sort_lines(edges, line, *count);
	return line;
}

static void print_table(const struct edges *edges, const struct report_line *function)
{
	const struct report *report = edges->report;
	const struct tally *tally = function->row;
	const struct catalog_name *name = &edges->names.name[tally->key[0]];
	char total[SHOW_TIME_SIZE], self[SHOW_TIME_SIZE];
	uint32_t lines;
	struct report_line *line = make_lines(edges, tally->key[0], &lines);

	report_print_function(report, name->name, name->library);
	printf(": %" PRIu64 " %s%s", tally->calls, name->probe ? "event" : "call", show_s(tally->calls));
	if (!name->probe)
		printf(", total %s, self %s", show_time(total, tally->ns.total), show_time(self, tally->ns.self));
	putchar('\n');
	columns_heads(&report->columns, edges->callees ? "Callee" : "Caller", report->color);
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct tally *row = line[i].row;
		name = &edges->names.name[row->key[1]];
		columns_line(&report->columns, &line[i]);
		report_print_function(report, name->name, name->library);
		putchar('\n');
	}
	free(line);
}

static void print_json(const struct edges *edges, const struct report_line *function)
{
	const struct report *report = edges->report;
	const struct tally *tally = function->row;
	const struct report_columns *columns = &report->columns;
	const struct catalog_name *name = &edges->names.name[tally->key[0]];
	uint32_t lines;
	struct report_line *line = make_lines(edges, tally->key[0], &lines);

	putchar('{');
	report_json_name(name);
	putchar(',');
	columns_json(columns, function);
	printf(",\"%s\":[", edges->callees ? "callees" : "callers");
	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct tally *row = line[i].row;
		name = &edges->names.name[row->key[1]];
		printf("%s\n {", i ? "," : "");
		report_json_function(name->name, name->library);
		putchar(',');
		columns_json(columns, &line[i]);
		putchar('}');
	}
	printf("\n]}");
	free(line);
}

static void csv_heads_of(const struct edges *edges)
{
	struct report *report = edges->report;

	report_csv_function_heads(report, "");
	report_csv_function_heads(report, edges->callees ? "callee_" : "caller_");
	columns_csv_heads(&report->columns, "", &report->csv);
	csv_end(&report->csv);
}

/* A row for each caller; that which is none has no name. */
static void csv_edges(const struct edges *edges, const struct report_line *function)
{
	struct report *report = edges->report;
	const struct tally *tally = function->row;
	const struct catalog_name *name = &edges->names.name[tally->key[0]];
	uint32_t lines;
	struct report_line *line = make_lines(edges, tally->key[0], &lines);

	for (uint32_t i = 0; i < lines && !show_output_broken(); i++) {
		const struct tally *row = line[i].row;
		const struct catalog_name *other = &edges->names.name[row->key[1]];
		report_csv_function(report, name->name, name->library);
		report_csv_function(report, other->name, other->library);
		columns_csv(&report->columns, &line[i], &report->csv);
		csv_end(&report->csv);
	}
	free(line);
}

static int answer(struct report *report, const char *pattern, bool callees)
{
	static const uint8_t usual[] = { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF, COLUMN_MIN, COLUMN_P50, COLUMN_P99,
		COLUMN_MAX };
	struct edges edges = { .report = report, .pattern = pattern, .callees = callees };
	const struct report_calls calls = {
		.probes = !callees, .begin = begin, .take = take, .rows = &edges.rows, .user = &edges
	};
	int status = TOOL_OK;
	uint32_t functions;

	catalog_number(&edges.names, NULL, NULL); /* so that 0, no function, has a place */
	report_each(report, &calls);
	report_columns(report, usual, sizeof(usual));
	sort_rows(&edges);
	struct report_line *function = make_functions(&edges, &functions);
	if (!functions) {
		struct meant meant;

		meant_begin(&meant, pattern);
		for (uint32_t i = 0; i < report->traces; i++)
			for (uint32_t k = 0; k < xaudit_read_functions(report->trace[i]); k++)
				meant_look(&meant, xaudit_read_function(report->trace[i], k)->name);
		status = report_no_function(report, pattern, &meant);
	} else if (report->options.json == REPORT_CSV) {
		csv_heads_of(&edges);
		for (uint32_t i = 0; i < functions && !show_output_broken(); i++)
			csv_edges(&edges, &function[i]);
	} else if (report->options.json) {
		printf("{");
		left_json_begin(&report->left);
		printf(",\"functions\":[");
		for (uint32_t i = 0; i < functions && !show_output_broken(); i++) {
			printf("%s\n", i ? "," : "");
			print_json(&edges, &function[i]);
		}
		printf("\n]");
		left_json_end(&report->left);
		puts("}");
	} else {
		report_meet(&edges.names);
		for (uint32_t i = 0; i < functions && !show_output_broken(); i++) {
			fputs(i ? "\n" : "", stdout);
			print_table(&edges, &function[i]);
		}
		left_print(report);
	}
	free(function);
	free(edges.by);
	free(edges.first);
	free(edges.chosen);
	free(edges.chosen_probe);
	tallies_free(&edges.rows);
	catalog_free(&edges.names);
	return status;
}

int report_callers(struct report *report)
{
	return answer(report, report->callers, false);
}

int report_callees(struct report *report)
{
	return answer(report, report->callees, true);
}
