/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/info_many.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/info.h"
#include "tool/show/show.h"

#define ROWS 30 /* that are shown */

struct row {
	const char *text; /* path of a program, or a note */
	uint64_t processes, events, lost;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->text, ((const struct row *)b)->text);
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	if (x->processes != y->processes)
		return x->processes > y->processes ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Adds up rows of the same text; returns how many are left, the heaviest first. */
static size_t add_up(struct row *row, size_t rows)
{
	size_t n = 0;

	qsort(row, rows, sizeof(*row), by_text);
	for (size_t i = 0; i < rows; i++) {
		if (n && !strcmp(row[n - 1].text, row[i].text)) {
			row[n - 1].processes += row[i].processes;
			row[n - 1].events += row[i].events;
			row[n - 1].lost += row[i].lost;
		} else {
			row[n++] = row[i];
		}
	}
	qsort(row, n, sizeof(*row), by_weight);
	return n;
}

static void print_programs(const struct info *info, const struct show_colors *color)
{
	uint32_t processes = info->info->processes;
	struct row *row = memory_zeroed(processes, sizeof(*row));

	for (uint32_t i = 0; i < processes; i++) {
		const struct info_process *of = &info->process[i];
		row[i] = (struct row){ of->info->exe ? of->info->exe : "[unknown]", 1,
			of->amounts.events + of->amounts.counted, of->amounts.lost };
	}
	size_t rows = add_up(row, processes);
	printf("\n%s%10s  %14s  %10s  Program%s\n", color->head, "Processes", "Events", "Lost", color->off);
	term_rows(true);
	for (size_t i = 0; i < rows && i < ROWS; i++) {
		printf("%10" PRIu64 "  %14" PRIu64 "  %s%10" PRIu64 "%s  %s", row[i].processes, row[i].events,
			row[i].lost ? color->warn : "", row[i].lost, row[i].lost ? color->off : "", color->name);
		term_text(stdout, row[i].text);
		printf("%s\n", color->off);
	}
	term_rows(false);
	if (rows > ROWS)
		printf("%10s  and %zu programs more\n", "", rows - ROWS);
	free(row);
}

static void print_states(const struct info *info)
{
	uint64_t count[XAUDIT_READ_STATE_LEFT + 1] = { 0 }, off = 0, crashed = 0;
	const char *between = "\nProcesses that: ";

	for (uint32_t i = 0; i < info->info->processes; i++) {
		count[xaudit_read_process_state(info->process[i].process)]++;
		off += info->process[i].head->off != 0;
		crashed += info->process[i].amounts.crashes != 0;
	}
	for (int state = 0; state <= XAUDIT_READ_STATE_LEFT; state++) {
		if (!count[state])
			continue;
		printf("%s%" PRIu64 " %s", between, count[state],
			count[state] == 1 ? show_state_phrase(state) : show_state_plural(state));
		between = "; ";
	}
	if (crashed)
		printf("; %" PRIu64 " crashed", crashed);
	if (off)
		printf("; %" PRIu64 " in which xaudit switched itself off", off);
	putchar('\n');
}

static void print_notes(const struct info *info)
{
	struct row *row = NULL;
	size_t rows = 0;

	for (uint32_t i = 0; i < info->info->processes; i++) {
		const struct xaudit_read_facts *facts = info->process[i].facts;
		row = memory_resize(row, rows + facts->notes + 1, sizeof(*row));
		for (uint32_t k = 0; k < facts->notes; k++)
			row[rows++] = (struct row){ facts->note[k], 1, 0, 0 };
	}
	rows = rows ? add_up(row, rows) : 0;
	for (size_t i = 0; i < rows && i < ROWS; i++) {
		printf("Note        %" PRIu64 " time%s: ", row[i].processes, show_s(row[i].processes));
		tool_text(stdout, row[i].text);
		putchar('\n');
	}
	if (rows > ROWS)
		printf("Note        and %zu more\n", rows - ROWS);
	free(row);
}

void info_many(const struct info *info, const struct show_colors *color)
{
	print_programs(info, color);
	print_states(info);
	print_notes(info);
	puts("`xaudit info -v` shows each process, `xaudit info --pid=N` one.");
}
