/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/hash.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/trace/shown.h"

struct row {
	const struct shown *name;
	uint64_t calls, errors, self;
};

static struct {
	struct row *row;
	uint32_t rows;
	struct hash by_name; /* of the pointer */
	struct probe {
		char *name;
		uint64_t events;
	} *probe;
	uint32_t probes;
	struct hash by_text; /* of the probe's name */
} table;

void table_add(const struct xaudit_read_call *call, bool failed)
{
	const struct shown *name = shown_name(call->function->name);
	uint32_t hash = hash_key((uintptr_t)name, 0);
	uint32_t found = HASH_FIND(i, &table.by_name, hash, table.row[i].name == name);

	if (found == HASH_NONE) {
		found = table.rows;
		table.row = memory_grow(table.row, table.rows, sizeof(*table.row));
		memory_hash(&table.by_name, hash, table.rows);
		table.row[table.rows++] = (struct row){ .name = name };
	}
	struct row *row = &table.row[found];
	row->calls++;
	row->errors += failed;
	row->self += call->end != XAUDIT_READ_UNKNOWN ? call->self : 0;
}

void table_probe(const struct xaudit_read_probe *probe)
{
	uint32_t hash = hash_text(0, probe->name);
	uint32_t found = HASH_FIND(i, &table.by_text, hash, !strcmp(table.probe[i].name, probe->name));

	if (found == HASH_NONE) {
		found = table.probes;
		table.probe = memory_grow(table.probe, table.probes, sizeof(*table.probe));
		memory_hash(&table.by_text, hash, table.probes);
		table.probe[table.probes++] = (struct probe){ memory_text(probe->name, strlen(probe->name)), 0 };
	}
	table.probe[found].events++;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return strcmp(x->name->raw, y->name->raw);
}

static void put_row(void (*put)(void *user, const char *line), void *user, const struct row *row, double all,
	const char *name)
{
	char errors[24] = "";

	if (row->errors)
		snprintf(errors, sizeof(errors), "%" PRIu64, row->errors);
	char *line = memory_format("%6.2f %11.6f %11" PRIu64 " %9" PRIu64 " %9s %s\n",
		all > 0 ? 100 * (double)row->self / all : 0, (double)row->self / 1e9,
		row->calls ? row->self / row->calls / 1000 : 0, row->calls, errors, name);
	put(user, line);
	free(line);
}

static int by_events(const void *a, const void *b)
{
	const struct probe *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void put_probes(void (*put)(void *user, const char *line), void *user)
{
	if (!table.probes)
		return;
	qsort(table.probe, table.probes, sizeof(*table.probe), by_events);
	put(user, "\n   events probe\n--------- ----------------\n");
	for (uint32_t i = 0; i < table.probes; i++) {
		char *line;
		size_t size;
		FILE *to = memory_need(open_memstream(&line, &size));
		fprintf(to, "%9" PRIu64 " ", table.probe[i].events);
		tool_text(to, table.probe[i].name);
		putc('\n', to);
		if (fclose(to))
			memory_failed();
		put(user, memory_need(line));
		free(line);
	}
}

void table_print(void (*put)(void *user, const char *line), void *user)
{
	static const char rule[] = "------ ----------- ----------- --------- --------- ----------------\n";
	struct row total = { 0 };

	for (uint32_t i = 0; i < table.rows; i++) {
		total.calls += table.row[i].calls;
		total.errors += table.row[i].errors;
		total.self += table.row[i].self;
	}
	if (table.rows)
		qsort(table.row, table.rows, sizeof(*table.row), by_time);
	put(user, "% time     seconds  usecs/call     calls    errors function\n");
	put(user, rule);
	for (uint32_t i = 0; i < table.rows; i++)
		put_row(put, user, &table.row[i], (double)total.self, table.row[i].name->bare);
	put(user, rule);
	put_row(put, user, &total, (double)total.self, "total");
	put_probes(put, user);
}

void table_free(void)
{
	for (uint32_t i = 0; i < table.probes; i++)
		free(table.probe[i].name);
	free(table.row);
	free(table.probe);
	hash_free(&table.by_name);
	hash_free(&table.by_text);
	table.probe = NULL;
	table.probes = 0;
	table.row = NULL;
	table.rows = 0;
}
