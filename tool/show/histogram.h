/* SPDX-License-Identifier: MIT */
/*
 * Counts values from 0 to 2^64-1, and computes any percentile of them within 0.8 %.
 *
 * Log-linear: values below 64 have a bucket each; above, each octave [2^e, 2^(e+1)) is cut into 64 buckets of equal
 * width, and a bucket stands for its middle. The buckets of an octave are a block, which is allocated when the first
 * value falls in it: times of one function lie in a few octaves. Memory: 472 bytes and 512 per octave, whatever the
 * number of values.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_HISTOGRAM_H
#define XAUDIT_TOOL_SHOW_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS	 6
#define HISTOGRAM_WIDTH	 (1u << HISTOGRAM_BITS)
#define HISTOGRAM_BLOCKS (64 - HISTOGRAM_BITS + 1)

struct histogram {
	uint64_t *block[HISTOGRAM_BLOCKS];
};

/* Makes the block of counts that holds bucket `index`. Out of line: it happens a few times per function. */
uint64_t *histogram_grow(struct histogram *histogram, unsigned block);

/* Counts one value. */
static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
	/* Without a branch: for values of an octave e > 5, the top 7 bits are 64 ... 127. */
	unsigned shift = 63 - HISTOGRAM_BITS - (unsigned)__builtin_clzll(value | HISTOGRAM_WIDTH);
	unsigned index = (shift << HISTOGRAM_BITS) + (unsigned)(value >> shift);
	uint64_t *block = histogram->block[index >> HISTOGRAM_BITS];

	if (__builtin_expect(!block, 0))
		block = histogram_grow(histogram, index >> HISTOGRAM_BITS);
	block[index & (HISTOGRAM_WIDTH - 1)]++;
}

/* How many values were counted. */
uint64_t histogram_count(const struct histogram *histogram);

/*
 * The smallest value that at least `percent` of the values don't exceed, within 0.8 %; callers know minimum and
 * maximum, and should clamp it to them. 0 if nothing was counted.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

/* Frees the blocks. */
void histogram_free(struct histogram *histogram);

#endif
