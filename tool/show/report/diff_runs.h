/* SPDX-License-Identifier: MIT */
/*
 * What --diff knows of the single runs of a side, beside their sums: the mean and the median of each function's self
 * times in each run, and the step of the clock.
 *
 * The step. Where a clock goes on in steps of several ticks, all times are multiples of it, and the median of a short
 * function is one of few values: it may be the next one in another run without reason. It is the largest number of
 * ticks of which nearly all of the first calls take a multiple; with too few of these, or too few different times, it
 * is not known, and 0.
 *
 * Blocks. Calls that come one after another are alike: while another program has half of the processor, all are slow.
 * So what single calls say of the error of a mean is far too little. The means of up to DIFF_BLOCKS blocks of calls, in
 * their order, tell it.
 *
 * One thread each. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_DIFF_RUNS_H
#define XAUDIT_TOOL_SHOW_REPORT_DIFF_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/show/report/compare.h"
#include "tool/show/report/tally.h"

#define DIFF_STEP_CALLS 4096 /* that tell of the step */
#define DIFF_BLOCKS 32

struct diff_blocks {
	uint32_t used;	/* that are full */
	uint32_t calls; /* of the one at hand */
	uint64_t size;	/* calls of each; 0: 1 */
	double sum[DIFF_BLOCKS + 1];
	uint64_t made, timed; /* calls that the function's calls made; and those themselves */
};

struct diff_run_values {
	uint32_t runs;	       /* those in which the function has calls with times */
	double *mean, *median; /* ns, of each */
};

struct diff_runs {
	bool each; /* single runs are wanted; else only the step */
	struct spread *now; /* of the run at hand, by number of the name */
	struct diff_run_values *past; /* of those before it */
	struct diff_blocks *blocks; /* of all runs, the same */
	uint32_t names; /* that have room in all three */
	uint64_t ticks[DIFF_STEP_CALLS]; /* that the first calls took */
	uint32_t calls;
	double tick; /* ns */
};

/* A call of a function: ns, without those in it; and ticks with them. */
void diff_runs_add(struct diff_runs *runs, uint32_t name, uint64_t self, uint64_t ticks);

/* The function made a call. */
void diff_runs_made(struct diff_runs *runs, uint32_t name);

/*
 * In how many stretches between two readings of the clock a self time of the function lies, on average: one more than
 * it makes calls.
 */
double diff_runs_stretches(const struct diff_runs *runs, uint32_t name);

/* The next run begins, whose calls are this cursor's; NULL: there is none. */
void diff_runs_next(struct diff_runs *runs, const struct xaudit_read_calls *calls);

/* When all runs are over: ns; 0: not known. */
double diff_runs_step(struct diff_runs *runs);

/* Gives what is known of a name to another list, where it has another number. */
void diff_runs_move(struct diff_runs *to, uint32_t name, struct diff_runs *from, uint32_t number);

/* A function's means, or medians, as if each were a call: so that compare_means() compares runs. */
void diff_runs_compare(const struct diff_runs *runs, uint32_t name, bool median, struct compare_run *to);

/* The means of a function's blocks, as if each was a call. */
void diff_runs_blocks(const struct diff_runs *runs, uint32_t name, struct compare_run *to);

/* The times but for the longest thousandth: their number, mean and variance. */
void diff_runs_most(const struct spread *spread, struct compare_run *to);

void diff_runs_free(struct diff_runs *runs);

#endif
