/* SPDX-License-Identifier: MIT */
/*
 * The rows of a histogram of times: few, with round bounds, as fine as the times allow. All rows of a histogram have
 * bounds of one ladder, such as 1, 2, 5, 10, 20, 50, ... ns; the finest one is taken that needs at most BARS_ROWS rows.
 * Bounds are whole ns, so where times are short rows are fewer.
 *
 * A count is put into the row that the middle of its range is in: what lies at a bound may be off by half a range. Of
 * the first range it is the beginning, of the last one the end: the shortest and the longest time that there are.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_BARS_H
#define XAUDIT_TOOL_SHOW_REPORT_BARS_H

#include <stdint.h>

#define BARS_ROWS 20
#define BARS_MOST 64 /* rows of the coarsest ladder, whatever the times are */

/* Times from first to last, both of them included. */
struct bars_range {
	uint64_t first, last, count;
};

struct bars {
	uint32_t rows;
	struct bars_row {
		uint64_t from, to; /* ns: from <= time < to */
		uint64_t count;
	} row[BARS_MOST];
	uint64_t count, most; /* of all rows, of the largest */
};

/* Makes the rows, of ranges that rise: from that of the shortest time to that of the longest, empty ones too. */
void bars_make(struct bars *bars, const struct bars_range *range, uint32_t ranges);

/* How many of `width` characters stand for a row: at least one if anything is in it, all in the largest. */
unsigned bars_length(const struct bars *bars, const struct bars_row *row, unsigned width);

#endif
