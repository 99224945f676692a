/* SPDX-License-Identifier: MIT */
/* How questions that count rows call by call (tally.h) print them: sorted, as a table, as JSON or CSV. One thread. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_TALLY_PRINT_H
#define XAUDIT_TOOL_SHOW_REPORT_TALLY_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/show/report/report.h"
#include "tool/show/report/tally.h"

/* A tally's line, whose row is the tally. */
typedef void tally_printer(const void *of, const struct report_line *line);

struct tally_table {
	const char *head; /* of what stands behind the columns */
	bool shares;	  /* each row is a part of the whole */
	int (*compare)(const void *row, const void *other); /* tallies that are equal by what is sorted by */
	tally_printer *print; /* what stands behind the columns, and the line's end */
	tally_printer *json;
	tally_printer *csv; /* the fields in front of the columns; line NULL: their heads */
	const void *of;
};

/* The rows that have calls, as lines in the order that was asked for. The caller frees them. */
struct report_line *tally_lines(const struct report *report, const struct tallies *rows,
	int (*compare)(const void *row, const void *other), uint32_t *lines);

/* Fills in report->columns if none were chosen. */
void tally_columns(struct report *report, bool shares);

/* Prints all, and what the numbers leave out. */
void tally_print(struct report *report, const struct tallies *rows, const struct tally_table *table);

#endif
