/* SPDX-License-Identifier: MIT */
#include "tool/show/report/diff_probes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/report/catalog.h"
#include "tool/show/report/profile.h"
#include "tool/show/term/term.h"

enum { OLD, NEW };

struct row {
	const struct catalog_name *name;
	double events[2]; /* of a run */
};

struct table {
	struct catalog names;
	struct row *row;
	uint32_t rows;
};

static void count(const struct report *report, struct table *table, unsigned side)
{
	const uint32_t from = side == OLD ? 0 : report->old, runs = side == OLD ? report->old : report->traces - from;
	struct xaudit_read_profile *profile = report_count_some(report, XAUDIT_READ_BY_FUNCTION, from, runs);

	for (uint32_t i = 0; i < xaudit_read_profile_info(profile)->probes; i++) {
		const struct xaudit_read_probe_row *probe = xaudit_read_profile_probe(profile, i);
		uint32_t number = catalog_number(&table->names, probe->name, probe->library);

		while (table->rows < number) {
			table->row = memory_grow(table->row, table->rows, sizeof(*table->row));
			table->row[table->rows++] = (struct row){ 0 };
		}
		table->row[number - 1].events[side] = (double)probe->count / runs;
	}
	xaudit_read_profile_close(profile);
}

static double most(const struct row *row)
{
	return row->events[OLD] > row->events[NEW] ? row->events[OLD] : row->events[NEW];
}

static int by_events(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int order = strcmp(a->name->name, b->name->name);

	if (most(a) < most(b) || most(a) > most(b))
		return most(a) > most(b) ? -1 : 1;
	return order ? order : strcmp(a->name->library, b->name->library);
}

static void make(const struct report *report, struct table *table)
{
	count(report, table, OLD);
	count(report, table, NEW);
	for (uint32_t i = 0; i < table->rows; i++)
		table->row[i].name = &table->names.name[i + 1];
	if (table->rows)
		qsort(table->row, table->rows, sizeof(*table->row), by_events);
}

static void print_row(const struct report *report, const struct row *row)
{
	const double old = row->events[OLD], new = row->events[NEW];
	const struct show_colors *color = report->color;
	char change[32] = "new";

	if (old > 0 && new > 0)
		snprintf(change, sizeof(change), old < new || old > new ? "%+.1f %%" : "%.1f %%",
			100 * (new - old) / old);
	else if (old > 0)
		strcpy(change, "gone");
	printf("%10.0f  %10.0f  %9s  %s", new, old, change, color->name);
	term_text(stdout, row->name->name);
	printf("%s  %s", color->off, color->dim);
	tool_text(stdout, tool_base(row->name->library));
	printf("%s\n", color->off);
}

void diff_probes_print(const struct report *report)
{
	struct table table = { .rows = 0 };

	make(report, &table);
	printf("\n%s%10s  %10s  %9s  %s%s\n==========  ==========  =========  ====================\n",
		report->color->head, "Events", "Before", "Change", "Probe", report->color->off);
	for (uint32_t i = 0; i < table.rows && !show_output_broken(); i++)
		print_row(report, &table.row[i]);
	free(table.row);
	catalog_free(&table.names);
}

void diff_probes_json(const struct report *report)
{
	struct table table = { .rows = 0 };

	make(report, &table);
	fputs(",\"probes\":[", stdout);
	for (uint32_t i = 0; i < table.rows && !show_output_broken(); i++) {
		const struct row *row = &table.row[i];

		printf("%s\n{\"probe\":", i ? "," : "");
		json_string(stdout, row->name->name);
		fputs(",\"library\":", stdout);
		json_string(stdout, row->name->library);
		printf(",\"old\":%.2f,\"new\":%.2f}", row->events[OLD], row->events[NEW]);
	}
	fputs("\n]", stdout);
	free(table.row);
	catalog_free(&table.names);
}
