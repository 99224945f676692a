/* SPDX-License-Identifier: MIT */
/*
 * Is a function slower in one run than in another, or do its calls' times only vary? Two tests, of the times of single
 * calls in both runs: Welch's t-test for the means, which need not be of the same variance; and the medians, by the
 * errors that they have by their ranks, whatever the distribution. The first sees what happens to few calls, the second
 * is not deceived by a few calls during which the processor did something else.
 *
 * Neither knows what makes a run as a whole faster or slower, such as the processor's clock: compare_shift() finds that
 * out from all functions together.
 *
 * No state. Any thread; not async-signal-safe.
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_COMPARE_H
#define XAUDIT_TOOL_SHOW_REPORT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits: what says that there is a difference. */
#define COMPARE_MEAN   1u
#define COMPARE_MEDIAN 2u

/*
 * How far off two medians may be, together, that a sketch of percentiles gives (xaudit_read_profile): two values that
 * are nearly the same may be in two buckets, whose middles are a 64th apart.
 */
#define COMPARE_SKETCH_ERROR 0.016

/* The times of a function's calls in one run. */
struct compare_run {
	double calls; /* those whose time is known */
	double mean, variance;
	/* The median, and the times at the ranks that compare_ranks() gives; NAN: there are too few calls. */
	double median, low, high;
};

/* How far from the middle a normal distribution has two tails of this probability together. */
double compare_normal(double tails);

/* The probability of both tails behind t of Student's distribution. */
double compare_student(double t, double freedom);

/* The probability of a difference of the means as large as this one, or larger, if there were none; 1: not known. */
double compare_means(const struct compare_run *a, const struct compare_run *b);

/*
 * The percent of the calls that do not exceed the lower and the upper end of the interval which holds the true median
 * but for this probability. Returns false if there are too few calls for one.
 */
bool compare_ranks(double calls, double tails, double *low, double *high);

/*
 * Are the medians different, but for the probability that compare_ranks() was given, and by more than the error of the
 * sketch?
 */
bool compare_medians(const struct compare_run *a, const struct compare_run *b);

/* Both tests: bits. tails: the probability with which chance alone may be taken for a difference by the first. */
unsigned compare_runs(const struct compare_run *a, const struct compare_run *b, double tails);

/* As if all calls of the run had taken `factor` times their time. */
struct compare_run compare_scaled(const struct compare_run *run, double factor);

/*
 * By which factor most functions are slower: the median of `ratio` (sorted; each is the ratio of a function's medians).
 * 1 if there are fewer than COMPARE_SHIFT_LEAST, or if the median is more than COMPARE_SHIFT_MOST away from 1: then the
 * program itself is different.
 */
double compare_shift(double *ratio, unsigned ratios);
#define COMPARE_SHIFT_LEAST 8
#define COMPARE_SHIFT_MOST  0.1

#endif
