/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/sample.h"

#include <stdlib.h>

#include "tool/base/memory.h"

#define ROOM_FIRST 64

void sample_add(struct sample *sample, uint64_t value)
{
	uint64_t number = sample->count++;

	if (sample->stride && number & (sample->stride - 1))
		return;
	if (sample->values == SAMPLE_MOST) {
		for (uint32_t i = 0; i < SAMPLE_MOST / 2; i++)
			sample->value[i] = sample->value[2 * i];
		sample->values = SAMPLE_MOST / 2;
		sample->stride = sample->stride ? sample->stride * 2 : 2;
	}
	if (sample->values == sample->room) {
		sample->room = sample->room ? sample->room * 2 : ROOM_FIRST;
		sample->value = memory_resize(sample->value, sample->room, sizeof(*sample->value));
	}
	sample->value[sample->values++] = value;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void sample_sort(struct sample *sample)
{
	if (sample->values)
		qsort(sample->value, sample->values, sizeof(*sample->value), by_value);
}

uint64_t sample_middle(const struct sample *sample, unsigned percent, uint64_t *low, uint64_t *high)
{
	uint32_t middle = (sample->values - 1) / 2;
	uint32_t side = (uint32_t)((uint64_t)middle * percent / 100);

	*low = sample->value[middle - side];
	*high = sample->value[middle + side];
	return sample->value[middle];
}

void sample_free(struct sample *sample)
{
	free(sample->value);
	*sample = (struct sample){ 0 };
}
