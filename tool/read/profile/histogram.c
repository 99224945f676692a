/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/profile/histogram.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 8

typedef uint8_t block_counts[READ_HISTOGRAM_WIDTH];

static bool grow_pool(struct read_histogram_pool *pool)
{
	uint32_t room = pool->room ? pool->room * 2 : ROOM_FIRST;
	block_counts *low = reallocarray(pool->low, room, sizeof(*low));
	uint64_t **high;

	if (!low)
		return false;
	pool->low = low;
	high = reallocarray(pool->high, room, sizeof(*high));
	if (!high)
		return false;
	pool->high = high;
	pool->room = room;
	return true;
}

static uint32_t take_block(struct read_histogram_pool *pool)
{
	if (pool->blocks + 1 >= pool->room && !grow_pool(pool))
		return 0;
	uint32_t block = ++pool->blocks;
	memset(&pool->low[block], 0, sizeof(pool->low[block]));
	pool->high[block] = NULL;
	return block;
}

uint32_t read_histogram_grow(struct read_histogram_pool *pool, struct read_histogram *histogram, unsigned octave)
{
	return histogram->block[octave] = take_block(pool);
}

static bool add_high(struct read_histogram_pool *pool, uint32_t block, unsigned i, uint64_t count)
{
	if (!pool->high[block])
		pool->high[block] = calloc(READ_HISTOGRAM_WIDTH, sizeof(uint64_t));
	if (!pool->high[block])
		return false;
	pool->high[block][i] += count;
	return true;
}

bool read_histogram_carry(struct read_histogram_pool *pool, uint32_t block, unsigned i)
{
	return add_high(pool, block, i, 1ul << 8);
}

static uint64_t count_of(const struct read_histogram_pool *pool, uint32_t block, unsigned i)
{
	return pool->low[block][i] + (pool->high[block] ? pool->high[block][i] : 0);
}

bool read_histogram_merge(struct read_histogram_pool *to_pool, struct read_histogram *to,
	const struct read_histogram_pool *from_pool, const struct read_histogram *from)
{
	for (unsigned b = 0; b < READ_HISTOGRAM_BLOCKS; b++) {
		if (!from->block[b])
			continue;
		if (!to->block[b] && !read_histogram_grow(to_pool, to, b))
			return false;
		for (unsigned i = 0; i < READ_HISTOGRAM_WIDTH; i++) {
			uint64_t sum = count_of(from_pool, from->block[b], i) + to_pool->low[to->block[b]][i];
			to_pool->low[to->block[b]][i] = (uint8_t)sum;
			if (sum >> 8 && !add_high(to_pool, to->block[b], i, sum >> 8 << 8))
				return false;
		}
	}
	return true;
}

/* Lowest value of a bucket: the inverse of read_histogram_bucket(). */
static uint64_t lowest(unsigned bucket)
{
	unsigned octave = bucket >> READ_HISTOGRAM_BITS, i = bucket & (READ_HISTOGRAM_WIDTH - 1);

	if (octave < 2) /* buckets of width 1 */
		return bucket;
	return (uint64_t)(READ_HISTOGRAM_WIDTH + i) << (octave - 1);
}

static uint64_t width(unsigned bucket)
{
	unsigned octave = bucket >> READ_HISTOGRAM_BITS;

	return octave < 2 ? 1 : 1ull << (octave - 1);
}

uint64_t read_histogram_next(const struct read_histogram_pool *pool, const struct read_histogram *histogram,
	unsigned *bucket, uint64_t *low, uint64_t *high)
{
	for (unsigned at = *bucket; at < READ_HISTOGRAM_BLOCKS * READ_HISTOGRAM_WIDTH; at++) {
		uint32_t block = histogram->block[at >> READ_HISTOGRAM_BITS];
		uint64_t count = block ? count_of(pool, block, at & (READ_HISTOGRAM_WIDTH - 1)) : 0;
		if (!block) {
			at |= READ_HISTOGRAM_WIDTH - 1;
		} else if (count) {
			*bucket = at + 1;
			*low = lowest(at);
			*high = *low + (width(at) - 1);
			return count;
		}
	}
	return 0;
}

uint64_t read_histogram_count(const struct read_histogram_pool *pool, const struct read_histogram *histogram)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < READ_HISTOGRAM_BLOCKS; b++)
		for (unsigned i = 0; histogram->block[b] && i < READ_HISTOGRAM_WIDTH; i++)
			sum += count_of(pool, histogram->block[b], i);
	return sum;
}

uint64_t read_histogram_percentile(
	const struct read_histogram_pool *pool, const struct read_histogram *histogram, double percent)
{
	uint64_t count = read_histogram_count(pool, histogram), seen = 0, want, n, low, high;
	unsigned bucket = 0;

	if (!count)
		return 0;
	double exact = (double)count * percent / 100;
	want = (uint64_t)exact;
	want += (double)want < exact; /* round up */
	want = want < 1 ? 1 : want > count ? count : want;
	while ((n = read_histogram_next(pool, histogram, &bucket, &low, &high))) {
		seen += n;
		if (seen >= want)
			return low + (high - low + 1) / 2;
	}
	return 0;
}

double read_histogram_variance(
	const struct read_histogram_pool *pool, const struct read_histogram *histogram, double mean)
{
	uint64_t count = 0, n, low, high;
	unsigned bucket = 0;
	double sum = 0;

	while ((n = read_histogram_next(pool, histogram, &bucket, &low, &high))) {
		double away = (double)low + (double)(high - low) / 2 - mean;
		sum += away * away * (double)n;
		count += n;
	}
	return count ? sum / (double)count : 0;
}

void read_histogram_pool_free(struct read_histogram_pool *pool)
{
	for (uint32_t i = 1; i <= pool->blocks; i++)
		free(pool->high[i]);
	free(pool->low);
	free(pool->high);
	*pool = (struct read_histogram_pool){ 0 };
}
