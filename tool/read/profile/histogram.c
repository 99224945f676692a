/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/histogram.h"

#include <stdlib.h>

uint64_t *read_histogram_grow(struct read_histogram *histogram, unsigned block)
{
	return histogram->block[block] = calloc(READ_HISTOGRAM_WIDTH, sizeof(uint64_t));
}

void read_histogram_merge(struct read_histogram *to, struct read_histogram *from)
{
	for (unsigned b = 0; b < READ_HISTOGRAM_BLOCKS; b++) {
		if (!from->block[b])
			continue;
		if (to->block[b]) {
			for (unsigned i = 0; i < READ_HISTOGRAM_WIDTH; i++)
				to->block[b][i] += from->block[b][i];
			free(from->block[b]);
		} else {
			to->block[b] = from->block[b];
		}
		from->block[b] = NULL;
	}
}

/* Lowest value of a bucket: the inverse of read_histogram_bucket(). */
static uint64_t lowest(unsigned bucket)
{
	unsigned block = bucket >> READ_HISTOGRAM_BITS, i = bucket & (READ_HISTOGRAM_WIDTH - 1);

	if (block < 2) /* buckets of width 1 */
		return bucket;
	return (uint64_t)(READ_HISTOGRAM_WIDTH + i) << (block - 1);
}

static uint64_t width(unsigned bucket)
{
	unsigned block = bucket >> READ_HISTOGRAM_BITS;

	return block < 2 ? 1 : 1ull << (block - 1);
}

uint64_t read_histogram_next(
	const struct read_histogram *histogram, unsigned *bucket, uint64_t *low, uint64_t *high)
{
	for (unsigned at = *bucket; at < READ_HISTOGRAM_BLOCKS * READ_HISTOGRAM_WIDTH; at++) {
		const uint64_t *block = histogram->block[at >> READ_HISTOGRAM_BITS];
		if (!block) {
			at |= READ_HISTOGRAM_WIDTH - 1;
		} else if (block[at & (READ_HISTOGRAM_WIDTH - 1)]) {
			*bucket = at + 1;
			*low = lowest(at);
			*high = *low + (width(at) - 1);
			return block[at & (READ_HISTOGRAM_WIDTH - 1)];
		}
	}
	return 0;
}

uint64_t read_histogram_count(const struct read_histogram *histogram)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < READ_HISTOGRAM_BLOCKS; b++)
		for (unsigned i = 0; histogram->block[b] && i < READ_HISTOGRAM_WIDTH; i++)
			sum += histogram->block[b][i];
	return sum;
}

uint64_t read_histogram_percentile(const struct read_histogram *histogram, double percent)
{
	uint64_t count = read_histogram_count(histogram), seen = 0, want, n, low, high;
	unsigned bucket = 0;

	if (!count)
		return 0;
	double exact = (double)count * percent / 100;
	want = (uint64_t)exact;
	want += (double)want < exact; /* round up */
	want = want < 1 ? 1 : want > count ? count : want;
	while ((n = read_histogram_next(histogram, &bucket, &low, &high))) {
		seen += n;
		if (seen >= want)
			return low + (high - low + 1) / 2;
	}
	return 0;
}

double read_histogram_variance(const struct read_histogram *histogram, double mean)
{
	uint64_t count = 0, n, low, high;
	unsigned bucket = 0;
	double sum = 0;

	while ((n = read_histogram_next(histogram, &bucket, &low, &high))) {
		double away = (double)low + (double)(high - low) / 2 - mean;
		sum += away * away * (double)n;
		count += n;
	}
	return count ? sum / (double)count : 0;
}

void read_histogram_free(struct read_histogram *histogram)
{
	for (unsigned b = 0; b < READ_HISTOGRAM_BLOCKS; b++)
		free(histogram->block[b]);
}
