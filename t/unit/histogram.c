/* SPDX-License-Identifier: MIT */
/* Percentiles of known distributions. */
#include "tool/show/histogram.h"

#include <stdlib.h>

#include "t/lib/tap.h"

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
	struct histogram h = { 0 };
	double worst = 0;

	for (unsigned i = 0; i < VALUES; i++)
		histogram_add(&h, value[i]);
	qsort(value, VALUES, sizeof(*value), compare);
	for (unsigned i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		double got = (double)histogram_percentile(&h, percents[i]), want = (double)exact(percents[i]);
		double off = want ? (got > want ? got - want : want - got) / want : got;
		worst = off > worst ? off : worst;
	}
	diag("%s: at most %.3f %% off", what, worst * 100);
	ok(worst <= 0.01, "percentiles of %s are within 1 %%", what);
	is_int((long long)histogram_count(&h), VALUES, "and every value was counted");
	histogram_free(&h);
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int main(void)
{
	struct histogram h = { 0 };

	is_int((long long)histogram_percentile(&h, 50), 0, "without values there is nothing");
	for (uint64_t v = 0; v < 128; v++)
		histogram_add(&h, v);
	is_int((long long)histogram_percentile(&h, 50), 63, "values below 128 are exact: the median of 0 ... 127");
	is_int((long long)histogram_percentile(&h, 100), 127, "and the last of them");
	is_int((long long)histogram_percentile(&h, 0), 0, "and the first");
	histogram_add(&h, UINT64_MAX);
	ok(histogram_percentile(&h, 100) > UINT64_MAX / 128 * 127, "the largest value has a bucket");
	histogram_free(&h);

	for (unsigned i = 0; i < VALUES; i++)
		value[i] = i + 1;
	check("1 ... 100 000");
	for (unsigned i = 0; i < VALUES; i++)
		value[i] = random_number() % 1000000007;
	check("evenly spread values");
	for (unsigned i = 0; i < VALUES; i++)
		value[i] = random_number() >> random_number() % 64;
	check("values of all magnitudes");
	for (unsigned i = 0; i < VALUES; i++)
		value[i] = i % 100 ? 131 : 9999991;
	check("two values");
	return done_testing();
}
