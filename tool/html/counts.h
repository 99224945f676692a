/* SPDX-License-Identifier: MIT */
/*
 * How many things happened when: a number of columns of equal width, for times of which the last is not known yet. When
 * one comes that lies behind the last column, two columns become one as often as it takes, so the width is a power of
 * two. Times are ns from where the caller's begin.
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_COUNTS_H
#define XAUDIT_TOOL_HTML_COUNTS_H

#include <stdint.h>

struct counts {
	uint32_t columns;
	uint32_t shift; /* a column is 1 << shift ns wide */
	uint32_t *count;
};

void counts_open(struct counts *counts, uint32_t columns); /* an even number */
void counts_close(struct counts *counts);

/* Makes columns wider. */
void counts_fold(struct counts *counts, uint32_t shift);

/* Counts something at that time. */
void counts_late(struct counts *counts, uint64_t time);
static inline void counts_add(struct counts *counts, uint64_t time)
{
	uint64_t column = time >> counts->shift;

	if (__builtin_expect(column < counts->columns, 1))
		counts->count[column]++;
	else
		counts_late(counts, time);
}

/* How many there were from `from` to `to`, but in whole columns. */
uint64_t counts_between(const struct counts *counts, uint64_t from, uint64_t to);

#endif
