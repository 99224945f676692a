/* SPDX-License-Identifier: MIT */
/*
 * Counts values from 0 to 2^64-1, and computes any percentile of them within 0.8 %.
 *
 * Log-linear: values below 64 have a bucket each; above, each octave [2^e, 2^(e+1)) is cut into 64 buckets of equal
 * width, and a bucket stands for its middle. The buckets of an octave are a block, which is taken from a pool when the
 * first value falls in it: times of one function lie in a few octaves. Memory: 236 bytes and 128 per octave, and 512
 * more for an octave of which a bucket has counted 65536 values; whatever their number. So small since what the
 * counting of some 10^8 values per second waits for is the cache.
 *
 * One thread per pool, and for the histograms that have their blocks in it.
 */
#ifndef XAUDIT_TOOL_READ_PROFILE_HISTOGRAM_H
#define XAUDIT_TOOL_READ_PROFILE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define READ_HISTOGRAM_BITS   6
#define READ_HISTOGRAM_WIDTH  (1u << READ_HISTOGRAM_BITS)
#define READ_HISTOGRAM_BLOCKS (64 - READ_HISTOGRAM_BITS + 1)

struct read_histogram {
	uint32_t block[READ_HISTOGRAM_BLOCKS]; /* in the pool; 0: none of its values occurred */
};

/* Block 0 belongs to nobody. All zeros: an empty pool. */
struct read_histogram_pool {
	uint8_t (*low)[READ_HISTOGRAM_WIDTH]; /* the counts: a cache line */
	uint64_t **high; /* for each block NULL, or what is to be added to its counts */
	uint32_t blocks, room;
};

/* The bucket of a value. */
static inline unsigned read_histogram_bucket(uint64_t value)
{
	/* Without a branch: for values of an octave e > 5, the top 7 bits are 64 ... 127. */
	unsigned shift = 63 - READ_HISTOGRAM_BITS - (unsigned)__builtin_clzll(value | READ_HISTOGRAM_WIDTH);

	return (shift << READ_HISTOGRAM_BITS) + (unsigned)(value >> shift);
}

/* Takes a block for an octave. Out of line: it happens a few times per function. Returns 0 if there is no memory. */
uint32_t read_histogram_grow(struct read_histogram_pool *pool, struct read_histogram *histogram, unsigned octave);

/* A count reached 256. Returns false if there is no memory. */
bool read_histogram_carry(struct read_histogram_pool *pool, uint32_t block, unsigned i);

/* Counts one value. Returns false, and does not count it, if there is no memory. */
static inline bool read_histogram_add(
	struct read_histogram_pool *pool, struct read_histogram *histogram, uint64_t value)
{
	unsigned bucket = read_histogram_bucket(value), i = bucket & (READ_HISTOGRAM_WIDTH - 1);
	uint32_t block = histogram->block[bucket >> READ_HISTOGRAM_BITS];

	if (__builtin_expect(!block, 0)) {
		block = read_histogram_grow(pool, histogram, bucket >> READ_HISTOGRAM_BITS);
		if (!block)
			return false;
	}
	return __builtin_expect(++pool->low[block][i] != 0, 1) || read_histogram_carry(pool, block, i);
}

/* Adds what another one, of another pool, has counted. Returns false if there is no memory. */
bool read_histogram_merge(struct read_histogram_pool *to_pool, struct read_histogram *to,
	const struct read_histogram_pool *from_pool, const struct read_histogram *from);

/* How many values were counted. */
uint64_t read_histogram_count(const struct read_histogram_pool *pool, const struct read_histogram *histogram);

/*
 * The smallest value that at least `percent` of the values don't exceed, within 0.8 %; callers know minimum and
 * maximum, and should clamp it to them. 0 if nothing was counted.
 */
uint64_t read_histogram_percentile(
	const struct read_histogram_pool *pool, const struct read_histogram *histogram, double percent);

/* The mean square of the values' distances from `mean`; each value is taken for the middle of its bucket. */
double read_histogram_variance(
	const struct read_histogram_pool *pool, const struct read_histogram *histogram, double mean);

/*
 * The first bucket from *bucket on that has counted something: returns how many values, sets *bucket to the one after
 * it, and *low and *high to the lowest and highest value that fall in it. 0: there is none.
 */
uint64_t read_histogram_next(const struct read_histogram_pool *pool, const struct read_histogram *histogram,
	unsigned *bucket, uint64_t *low, uint64_t *high);

/* Frees the blocks of all its histograms. */
void read_histogram_pool_free(struct read_histogram_pool *pool);

#endif
