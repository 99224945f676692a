/* SPDX-License-Identifier: MIT */
#include "tool/show/report/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

double compare_normal(double tails)
{
	double low = 0, high = 40;

	for (unsigned i = 0; i < 200 && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (erfc(middle / sqrt(2)) > tails)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- Student's distribution ---- */

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. For x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (double m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		f *= c * d;
		if (fabs(c * d - 1) < 1e-14)
			break;
	}
	return f;
}

/* The regularized incomplete beta function. */
static double beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a :
					   1 - front * beta_fraction(b, a, 1 - x) / b;
}

double compare_student(double t, double freedom)
{
	return isinf(t) ? 0 : beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* ---- means ---- */

double compare_means(const struct compare_run *a, const struct compare_run *b)
{
	if (a->calls < 2 || b->calls < 2)
		return 1;

	double x = a->variance / a->calls, y = b->variance / b->calls, both = x + y;
	double between = fabs(a->mean - b->mean);

	if (both <= 0) /* each run has calls of one length */
		return between > 0 ? 0 : 1;
	double freedom = both * both / (x * x / (a->calls - 1) + y * y / (b->calls - 1));
	return compare_student(between / sqrt(both), freedom);
}

/* ---- medians ---- */

bool compare_ranks(double calls, double tails, double *low, double *high)
{
	double width = compare_normal(tails) * sqrt(calls) / 2;
	double first = floor(calls / 2 - width), last = ceil(calls / 2 + 1 + width);

	if (first < 1 || last > calls)
		return false;
	*low = first / calls * 100;
	*high = last / calls * 100;
	return true;
}

bool compare_medians(const struct compare_run *a, const struct compare_run *b)
{
	double between = fabs(a->median - b->median);

	if (isnan(a->low) || isnan(b->low))
		return false;
	/* The interval is z standard errors to either side, or so. */
	double x = (a->high - a->low) / 2, y = (b->high - b->low) / 2;
	return between * between > x * x + y * y &&
	       between > COMPARE_SKETCH_ERROR * fmin(a->median, b->median);
}

unsigned compare_runs(const struct compare_run *a, const struct compare_run *b, double tails)
{
	return (compare_means(a, b) < tails ? COMPARE_MEAN : 0) | (compare_medians(a, b) ? COMPARE_MEDIAN : 0);
}

/* ---- all functions together ---- */

struct compare_run compare_scaled(const struct compare_run *run, double factor)
{
	return (struct compare_run){ .calls = run->calls,
		.mean = run->mean * factor,
		.variance = run->variance * factor * factor,
		.median = run->median * factor,
		.low = run->low * factor,
		.high = run->high * factor };
}

static int rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double compare_shift(double *ratio, unsigned ratios)
{
	if (ratios < COMPARE_SHIFT_LEAST)
		return 1;
	qsort(ratio, ratios, sizeof(*ratio), rising);
	double median = (ratio[(ratios - 1) / 2] + ratio[ratios / 2]) / 2;
	return fabs(median - 1) <= COMPARE_SHIFT_MOST ? median : 1;
}
