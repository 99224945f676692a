/* SPDX-License-Identifier: MIT */
#include "tool/show/histogram.h"

#include <stdlib.h> /* free */

#include "tool/memory.h"

uint64_t *histogram_grow(struct histogram *histogram, unsigned block)
{
	return histogram->block[block] = memory_zeroed(HISTOGRAM_WIDTH, sizeof(uint64_t));
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < HISTOGRAM_BLOCKS; b++)
		for (unsigned i = 0; histogram->block[b] && i < HISTOGRAM_WIDTH; i++)
			sum += histogram->block[b][i];
	return sum;
}

/* Middle of a bucket: the inverse of histogram_add(). */
static uint64_t middle(unsigned block, unsigned i)
{
	if (block < 2) /* buckets of width 1 */
		return block * HISTOGRAM_WIDTH + i;
	unsigned shift = block - 1;
	return ((uint64_t)(HISTOGRAM_WIDTH + i) << shift) + (1ull << shift) / 2;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
	uint64_t count = histogram_count(histogram), seen = 0, want;

	if (!count)
		return 0;
	double exact = (double)count * percent / 100;
	want = (uint64_t)exact;
	want += (double)want < exact; /* round up */
	want = want < 1 ? 1 : want > count ? count : want;
	for (unsigned b = 0; b < HISTOGRAM_BLOCKS; b++) {
		for (unsigned i = 0; histogram->block[b] && i < HISTOGRAM_WIDTH; i++) {
			seen += histogram->block[b][i];
			if (seen >= want)
				return middle(b, i);
		}
	}
	return 0;
}

void histogram_free(struct histogram *histogram)
{
	for (unsigned b = 0; b < HISTOGRAM_BLOCKS; b++)
		free(histogram->block[b]);
}
