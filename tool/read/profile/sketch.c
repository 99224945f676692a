/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/read/profile/histogram.h"

struct xaudit_read_sketch {
	struct read_histogram histogram;
	struct read_histogram_pool pool;
	uint64_t min, max;
	bool some;
};

struct xaudit_read_sketch *xaudit_read_sketch(void)
{
	return calloc(1, sizeof(struct xaudit_read_sketch));
}

int xaudit_read_sketch_add(struct xaudit_read_sketch *sketch, uint64_t value)
{
	if (!read_histogram_add(&sketch->pool, &sketch->histogram, value))
		return -1;
	sketch->min = !sketch->some || value < sketch->min ? value : sketch->min;
	sketch->max = value > sketch->max ? value : sketch->max;
	sketch->some = true;
	return 0;
}

uint64_t xaudit_read_sketch_percentile(const struct xaudit_read_sketch *sketch, double percent)
{
	/* Of many functions there are a few calls, as in a table of all of them. */
	if (sketch->min == sketch->max)
		return sketch->min;
	uint64_t value = read_histogram_percentile(&sketch->pool, &sketch->histogram, percent);
	if (percent <= 0 || value < sketch->min)
		return sketch->min;
	return percent >= 100 || value > sketch->max ? sketch->max : value;
}

size_t xaudit_read_sketch_buckets(
	const struct xaudit_read_sketch *sketch, struct xaudit_read_bucket *to, size_t room)
{
	struct xaudit_read_bucket one;
	unsigned bucket = 0;
	size_t buckets = 0;

	while ((one.count = read_histogram_next(&sketch->pool, &sketch->histogram, &bucket, &one.low, &one.high))) {
		if (buckets < room)
			to[buckets] = one;
		buckets++;
	}
	return buckets;
}

void xaudit_read_sketch_close(struct xaudit_read_sketch *sketch)
{
	if (sketch)
		read_histogram_pool_free(&sketch->pool);
	free(sketch);
}
