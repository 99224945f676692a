/* SPDX-License-Identifier: MIT */
/* The tests for a difference between two runs: known values, and two runs of many functions that are made by chance. */
#include "tool/show/report/compare.h"

#include <math.h>

#include "t/lib/random.h"
#include "t/lib/tap.h"

static int near(double got, double expected, double off)
{
	if (fabs(got - expected) <= off)
		return 1;
	diag("got %.9g, expected %.9g", got, expected);
	return 0;
}

static struct compare_run run(double calls, double mean, double variance)
{
	return (struct compare_run){ .calls = calls, .mean = mean, .variance = variance, .low = NAN, .high = NAN };
}

static struct compare_run ranked(double median, double low, double high)
{
	return (struct compare_run){ .calls = 100, .median = median, .low = low, .high = high };
}

/* ---- made by chance ---- */

#define CALLS 400

static uint64_t state = RANDOM_BEGIN;

static double chance(void)
{
	return (double)(random_number(&state) >> 11) / (double)(1ull << 53);
}

static int rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Calls of `time` and up to a tenth more; one in `rare` of them takes a hundred times as long. */
static struct compare_run made(double time, unsigned rare, double tails)
{
	static double value[CALLS];
	struct compare_run made = { .calls = CALLS };
	double low, high, sum = 0, squares = 0;

	for (int i = 0; i < CALLS; i++) {
		value[i] = time * (1 + chance() / 10);
		if (rare && chance() * rare < 1)
			value[i] *= 100;
		sum += value[i];
	}
	made.mean = sum / CALLS;
	for (int i = 0; i < CALLS; i++)
		squares += (value[i] - made.mean) * (value[i] - made.mean);
	made.variance = squares / (CALLS - 1);
	qsort(value, CALLS, sizeof(*value), rising);
	compare_ranks(CALLS, tails, &low, &high);
	made.median = value[CALLS / 2 - 1];
	made.low = value[(int)lround(low / 100 * CALLS) - 1];
	made.high = value[(int)lround(high / 100 * CALLS) - 1];
	return made;
}

static void by_chance(void)
{
	const unsigned functions = 2000;
	const double tails = 0.01 / functions;
	unsigned wrong = 0, found = 0, in_mean = 0;

	for (unsigned i = 0; i < functions; i++) {
		struct compare_run a = made(1000, 150, tails), b = made(1000, 150, tails);
		wrong += compare_runs(&a, &b, tails) != 0;
	}
	is_int(wrong, 0, "of 2000 functions that are the same in both runs none is marked");
	for (unsigned i = 0; i < functions; i++) {
		struct compare_run a = made(1000, 150, tails), b = made(1200, 150, tails);
		unsigned by = compare_runs(&a, &b, tails);
		found += by & COMPARE_MEDIAN ? 1 : 0;
		in_mean += by & COMPARE_MEAN ? 1 : 0;
	}
	is_int(found, functions, "all of 2000 that are slower by 20 %% are found by their medians");
	ok(in_mean < functions / 10, "and hardly one by its mean, for a few calls take a hundred times as long");
	found = 0;
	for (unsigned i = 0; i < functions; i++) {
		struct compare_run a = made(1000, 0, tails), b = made(1200, 0, tails);
		found += compare_runs(&a, &b, tails) == (COMPARE_MEAN | COMPARE_MEDIAN);
	}
	is_int(found, functions, "without these, by both");
}

int main(void)
{
	struct compare_run a, b;
	double low, high;

	/* Tables of Student's distribution. */
	ok(near(compare_student(2.228138852, 10), 0.05, 1e-9), "t of 10 degrees of freedom at 5 %%");
	ok(near(compare_student(12.7062047, 1), 0.05, 1e-8), "of one degree");
	ok(near(compare_student(1.959963985, 1e9), 0.05, 1e-6), "of as many as make it the normal distribution");
	ok(near(compare_student(0.5, 3), 0.651442, 1e-5), "in the middle");
	ok(near(compare_student(0, 5), 1, 1e-12), "no distance is nothing");
	ok(compare_student(1e9, 1000) < 1e-300, "a large one is sure");
	ok(near(compare_normal(0.05), 1.959963985, 1e-8), "two tails of 5 %% begin at 1.96");
	ok(near(compare_normal(1e-6), 4.891638475, 1e-7), "those of a millionth at 4.89");

	/* t is 2.445718 with 24.937671 degrees of freedom; the area below the density by Simpson's rule. */
	a = run(15, 20.82, 7.9);
	b = run(15, 22.98, 3.8);
	ok(near(compare_means(&a, &b), 0.0218577300, 1e-9), "Welch's test of two samples of equal size");
	a = run(10, 20.6, 9.0);
	b = run(20, 22.1, 0.9);
	ok(near(compare_means(&a, &b), 0.1541255196, 1e-9), "of samples where the smaller one varies more");
	a = run(10, 19.4, 1.4);
	b = run(20, 21.6, 17.1);
	ok(near(compare_means(&a, &b), 0.0370931934, 1e-9), "and less");
	a = run(1, 5, 0);
	ok(compare_means(&a, &b) >= 1, "one call tells nothing");
	a = run(3, 1000, 0);
	b = run(3, 1200, 0);
	ok(compare_means(&a, &b) <= 0, "calls that don't vary are different if they are");
	ok(compare_means(&a, &a) >= 1, "and else not");

	/* 1.96 standard errors of 100 ranks are 9.8: from rank 40 to 61. */
	ok(compare_ranks(100, 0.05, &low, &high) && near(low, 40, 1e-9) && near(high, 61, 1e-9),
		"the median of 100 calls is between the 40th and the 61st");
	ok(!compare_ranks(7, 0.05, &low, &high), "7 calls don't have a median that is so sure");
	ok(compare_ranks(8, 0.05, &low, &high) && near(low, 12.5, 0) && near(high, 100, 0),
		"that of 8 is between the first and the last");

	a = ranked(1000, 990, 1010);
	b = ranked(1200, 1190, 1210);
	is_int(compare_medians(&a, &b), 1, "medians are different that lie further apart than their errors");
	a = ranked(1000, 999.9, 1000.1);
	b = ranked(1015.5, 1015.4, 1015.6);
	is_int(compare_medians(&a, &b), 0, "less than the width of a bucket of the sketch is nothing");
	b = ranked(1017, 1016.9, 1017.1);
	is_int(compare_medians(&a, &b), 1, "more is something");
	a = ranked(1000, 900, 1100);
	b = ranked(1200, 1000, 1400);
	is_int(compare_medians(&a, &b), 0, "less than their own errors is nothing");
	b = ranked(1200, NAN, NAN);
	is_int(compare_medians(&a, &b), 0, "without known errors nothing is said");

	double few[] = { 1.05, 1.05, 1.05, 1.05, 1.05, 1.05, 1.05 };
	ok(near(compare_shift(few, 7), 1, 0), "7 functions are too few to tell a common shift");
	double all[] = { 1.20, 1.04, 1.06, 1.05, 0.7, 1.05, 1.05, 1.05 };
	ok(near(compare_shift(all, 8), 1.05, 1e-12),
		"most functions take 5 %% more time: one with 20 %% is none of them");
	double other[] = { 2, 2, 2, 2, 2, 2, 2, 2, 2 };
	ok(near(compare_shift(other, 9), 1, 0), "twice the time in all functions is no shift");
	a = (struct compare_run){ 10, 100, 25, 90, 80, 110 };
	b = compare_scaled(&a, 2);
	ok(near(b.mean, 200, 0) && near(b.variance, 100, 0) && near(b.median, 180, 0) && near(b.low, 160, 0) &&
			near(b.high, 220, 0) && near(b.calls, 10, 0),
		"a run that takes twice its time");
	by_chance();
	return done_testing();
}
