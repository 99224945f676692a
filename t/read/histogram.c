/* SPDX-License-Identifier: MIT */
/* Percentiles of known distributions. */
#include "tool/read/profile/histogram.h"

#include <stdlib.h>

#include "t/lib/random.h"
#include "t/lib/tap.h"
#include "tool/read/api/xaudit-read.h"

#define VALUES 100000

static uint64_t value[VALUES];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank: the smallest value that at least percent of the values don't exceed. */
static uint64_t exact(double percent)
{
	double rank = VALUES * percent / 100;
	uint64_t n = (uint64_t)rank + ((double)(uint64_t)rank < rank);

	return value[n ? n - 1 : 0];
}

static void check(const char *what)
{
	static const double percents[] = { 0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 100 };
	struct read_histogram h = { 0 };
	struct read_histogram_pool pool = { 0 };
	double worst = 0;

	for (unsigned i = 0; i < VALUES; i++)
		read_histogram_add(&pool, &h, value[i]);
	qsort(value, VALUES, sizeof(*value), compare);
	for (unsigned i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		double got = (double)read_histogram_percentile(&pool, &h, percents[i]),
			want = (double)exact(percents[i]);
		double off = want ? (got > want ? got - want : want - got) / want : got;
		worst = off > worst ? off : worst;
	}
	diag("%s: at most %.3f %% off", what, worst * 100);
	ok(worst <= 0.01, "percentiles of %s are within 1 %%", what);
	is_int((long long)read_histogram_count(&pool, &h), VALUES, "and every value was counted");
	read_histogram_pool_free(&pool);
}

/* 100 000 values of 10, 300 000 of 20, in one or in two histograms; then one of 2^40. */
static void parts(void)
{
	struct read_histogram all = { 0 }, one = { 0 }, other = { 0 };
	struct read_histogram_pool pool = { 0 }, second = { 0 };
	uint64_t low, high;
	unsigned bucket = 0;

	for (unsigned i = 0; i < 400000; i++)
		read_histogram_add(&pool, &all, i % 4 ? 20 : 10);
	is_int((long long)read_histogram_count(&pool, &all), 400000, "more than 65536 values of a kind are counted");
	ok(read_histogram_variance(&pool, &all, 17.5) == 18.75,
		"the variance of values with buckets of their own is exact");
	for (unsigned i = 0; i < 400000; i++)
		i % 3 ? read_histogram_add(&pool, &one, i % 4 ? 20 : 10) :
			read_histogram_add(&second, &other, i % 4 ? 20 : 10);
	read_histogram_add(&second, &other, 1ull << 40);
	ok(read_histogram_merge(&pool, &one, &second, &other), "two histograms are merged");
	is_int((long long)read_histogram_next(&pool, &one, &bucket, &low, &high), 100000,
		"values of both are added up");
	is_int((long long)low, 10, "in the bucket of 10");
	is_int((long long)read_histogram_next(&pool, &one, &bucket, &low, &high), 300000, "and the next");
	is_int((long long)high, 20, "in the bucket of 20");
	is_int((long long)read_histogram_next(&pool, &one, &bucket, &low, &high), 1,
		"a block that one had alone is there");
	is_int((long long)low, 1ll << 40, "its bucket begins at 2^40");
	is_int((long long)high, (1ll << 40) + (1ll << 34) - 1, "and ends a 64th of that later");
	is_int((long long)read_histogram_next(&pool, &one, &bucket, &low, &high), 0, "after which there is nothing");
	read_histogram_pool_free(&pool);
	read_histogram_pool_free(&second);
}

/* What programs have of it. */
static void public(void)
{
	struct xaudit_read_sketch *sketch = xaudit_read_sketch();
	struct xaudit_read_bucket bucket[2];
	unsigned added = 0;

	if (!ok(sketch != NULL, "a sketch is made"))
		return;
	is_int((long long)xaudit_read_sketch_percentile(sketch, 50), 0, "it begins empty");
	for (unsigned i = 0; i < 400; i++)
		added += xaudit_read_sketch_add(sketch, i % 4 ? 20 : 1000) == 0;
	is_int(added, 400, "values are added");
	is_int((long long)xaudit_read_sketch_percentile(sketch, 75), 20, "three of four are 20");
	is_int((long long)xaudit_read_sketch_percentile(sketch, 0), 20, "the least");
	is_int((long long)xaudit_read_sketch_percentile(sketch, 100), 1000, "and the highest value are exact");
	is_int((long long)xaudit_read_sketch_buckets(sketch, bucket, 1), 2, "there are two buckets");
	is_int((long long)xaudit_read_sketch_buckets(sketch, bucket, 2), 2, "which fit");
	is_int((long long)bucket[1].count, 100, "a hundred values are in the second one");
	ok(bucket[1].low == 1000 && bucket[1].high == 1007, "which is from 1000 to 1007");
	xaudit_read_sketch_close(sketch);
	xaudit_read_sketch_close(NULL);
}

int main(void)
{
	struct read_histogram h = { 0 };
	struct read_histogram_pool pool = { 0 };
	uint64_t state = RANDOM_BEGIN;

	is_int((long long)read_histogram_percentile(&pool, &h, 50), 0, "without values there is nothing");
	for (uint64_t v = 0; v < 128; v++)
		read_histogram_add(&pool, &h, v);
	is_int((long long)read_histogram_percentile(&pool, &h, 50), 63,
		"values below 128 are exact: the median of 0 ... 127");
	is_int((long long)read_histogram_percentile(&pool, &h, 100), 127, "and the last of them");
	is_int((long long)read_histogram_percentile(&pool, &h, 0), 0, "and the first");
	read_histogram_add(&pool, &h, UINT64_MAX);
	ok(read_histogram_percentile(&pool, &h, 100) > UINT64_MAX / 128 * 127, "the largest value has a bucket");
	read_histogram_pool_free(&pool);

	for (unsigned i = 0; i < VALUES; i++)
		value[i] = i + 1;
	check("1 ... 100 000");
	for (unsigned i = 0; i < VALUES; i++)
		value[i] = random_number(&state) % 1000000007;
	check("evenly spread values");
	for (unsigned i = 0; i < VALUES; i++) {
		uint64_t by = random_number(&state) % 64;
		value[i] = random_number(&state) >> by;
	}
	check("values of all magnitudes");
	for (unsigned i = 0; i < VALUES; i++)
		value[i] = i % 100 ? 131 : 9999991;
	check("two values");
	parts();
	public();
	return done_testing();
}
