/* SPDX-License-Identifier: MIT */
/*
 * The middle of any number of values, in little memory: all of them while they are few, and then every 2nd, 4th, 8th
 * ... of them, in the order in which they come. So ranks are exact up to SAMPLE_MOST values; above that they are those
 * of an even sample of at least half as many. One thread; ends the command if there is no memory.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_SAMPLE_H
#define XAUDIT_TOOL_SHOW_CALLS_SAMPLE_H

#include <stdint.h>

#define SAMPLE_MOST (1u << 16)

struct sample { /* begins as zeros */
	uint64_t *value;
	uint32_t values, room;
	uint64_t count;	 /* of all values */
	uint64_t stride; /* of so many one is kept; 0: all */
};

void sample_add(struct sample *sample, uint64_t value);

/* Sorts it: nothing can be added any more. */
void sample_sort(struct sample *sample);

/*
 * The median: of an even number the smaller one of the two in the middle. low, high: so many in a hundred, at most 50,
 * of the values on either side of it are between them. There must be a value.
 */
uint64_t sample_middle(const struct sample *sample, unsigned percent, uint64_t *low, uint64_t *high);

void sample_free(struct sample *sample);

#endif
