/* SPDX-License-Identifier: MIT */
#include "tool/html/counts.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

void counts_open(struct counts *counts, uint32_t columns)
{
	*counts = (struct counts){ .columns = columns, .count = memory_zeroed(columns, sizeof(*counts->count)) };
}

void counts_close(struct counts *counts)
{
	free(counts->count);
	*counts = (struct counts){ 0 };
}

void counts_fold(struct counts *counts, uint32_t shift)
{
	uint32_t half = counts->columns / 2;

	for (; counts->shift < shift; counts->shift++) {
		for (uint32_t i = 0; i < half; i++)
			counts->count[i] = counts->count[2 * i] + counts->count[2 * i + 1];
		memset(counts->count + half, 0, half * sizeof(*counts->count));
	}
}

void counts_late(struct counts *counts, uint64_t time)
{
	uint32_t shift = counts->shift;

	while (time >> shift >= counts->columns)
		shift++;
	counts_fold(counts, shift);
	counts->count[time >> shift]++;
}

uint64_t counts_between(const struct counts *counts, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t i = from >> counts->shift; i < counts->columns && i << counts->shift < to; i++)
		sum += counts->count[i];
	return sum;
}
