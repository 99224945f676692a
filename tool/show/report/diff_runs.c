/* SPDX-License-Identifier: MIT */
#include "tool/show/report/diff_runs.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define STEP_MOST  256	/* ticks */
#define STEP_CALLS 100	/* fewer don't tell of the step */
#define STEP_TIMES 3	/* and as many different times they must take */
#define STEP_PART  0.95 /* of these calls take a multiple of it: a clock is sometimes corrected */
#define STEP_ROUND 1.5	/* what is less than two steps is one, whatever was rounded */

static void make_room(struct diff_runs *runs, uint32_t name)
{
	if (name < runs->names)
		return;
	uint32_t names = (name + 64) * 2;
	runs->now = memory_resize(runs->now, names, sizeof(*runs->now));
	runs->past = memory_resize(runs->past, names, sizeof(*runs->past));
	runs->blocks = memory_resize(runs->blocks, names, sizeof(*runs->blocks));
	memset(runs->now + runs->names, 0, (names - runs->names) * sizeof(*runs->now));
	memset(runs->past + runs->names, 0, (names - runs->names) * sizeof(*runs->past));
	memset(runs->blocks + runs->names, 0, (names - runs->names) * sizeof(*runs->blocks));
	runs->names = names;
}

static void add_to_block(struct diff_blocks *blocks, uint64_t self)
{
	blocks->size = blocks->size ? blocks->size : 1;
	blocks->sum[blocks->used] += (double)self;
	if (++blocks->calls < blocks->size)
		return;
	blocks->calls = 0;
	if (++blocks->used == DIFF_BLOCKS) {
		/* Now they are twice as large, and half as many. */
		blocks->used /= 2;
		blocks->size *= 2;
		for (uint32_t i = 0; i < blocks->used; i++)
			blocks->sum[i] = blocks->sum[2 * i] + blocks->sum[2 * i + 1];
	}
	blocks->sum[blocks->used] = 0;
}

void diff_runs_add(struct diff_runs *runs, uint32_t name, uint64_t self, uint64_t ticks)
{
	if (ticks && runs->calls < DIFF_STEP_CALLS)
		runs->ticks[runs->calls++] = ticks;
	make_room(runs, name);
	add_to_block(&runs->blocks[name], self);
	runs->blocks[name].timed++;
	if (runs->each)
		spread_add(&runs->now[name], self);
}

void diff_runs_made(struct diff_runs *runs, uint32_t name)
{
	make_room(runs, name);
	runs->blocks[name].made++;
}

double diff_runs_stretches(const struct diff_runs *runs, uint32_t name)
{
	const struct diff_blocks *blocks = name < runs->names ? &runs->blocks[name] : NULL;

	return blocks && blocks->timed ? 1 + (double)blocks->made / (double)blocks->timed : 1;
}

void diff_runs_next(struct diff_runs *runs, const struct xaudit_read_calls *calls)
{
	if (calls)
		runs->tick = (double)xaudit_read_calls_ns(calls, 1u << 20) / (1u << 20);
	for (uint32_t i = 0; i < runs->names; i++) {
		struct spread *now = &runs->now[i];
		struct diff_run_values *past = &runs->past[i];

		if (!now->values)
			continue;
		past->mean = memory_grow(past->mean, past->runs, sizeof(*past->mean));
		past->median = memory_grow(past->median, past->runs, sizeof(*past->median));
		past->mean[past->runs] = spread_mean(now);
		past->median[past->runs++] = (double)spread_percentile(now, 50);
		spread_free(now);
		*now = (struct spread){ 0 };
	}
}

static bool is_step(const struct diff_runs *runs, unsigned step)
{
	uint64_t time[STEP_TIMES];
	uint32_t multiples = 0;
	unsigned times = 0;

	for (uint32_t i = 0; i < runs->calls; i++) {
		unsigned known = 0;
		if (runs->ticks[i] % step)
			continue;
		multiples++;
		while (known < times && time[known] != runs->ticks[i])
			known++;
		if (known == times && times < STEP_TIMES)
			time[times++] = runs->ticks[i];
	}
	return multiples >= STEP_PART * runs->calls && times == STEP_TIMES;
}

double diff_runs_step(struct diff_runs *runs)
{
	diff_runs_next(runs, NULL);
	for (unsigned step = STEP_MOST; runs->calls >= STEP_CALLS && step > 1; step--)
		if (is_step(runs, step))
			return STEP_ROUND * step * runs->tick;
	return 0;
}

void diff_runs_move(struct diff_runs *to, uint32_t name, struct diff_runs *from, uint32_t number)
{
	if (number >= from->names)
		return;
	make_room(to, name);
	to->blocks[name] = from->blocks[number];
	to->past[name] = from->past[number];
	from->past[number] = (struct diff_run_values){ 0 };
}

/* Of n values. */
static void describe(const double *value, uint32_t n, double scale, struct compare_run *to)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += value[i] * scale;
	double mean = n ? sum / n : 0;
	for (uint32_t i = 0; i < n; i++)
		squares += (value[i] * scale - mean) * (value[i] * scale - mean);
	*to = (struct compare_run){ .calls = n, .mean = mean, .variance = n > 1 ? squares / (n - 1) : 0 };
}

void diff_runs_blocks(const struct diff_runs *runs, uint32_t name, struct compare_run *to)
{
	static const struct diff_blocks none;
	const struct diff_blocks *blocks = name < runs->names ? &runs->blocks[name] : &none;

	describe(blocks->sum, blocks->used, blocks->size ? 1.0 / (double)blocks->size : 1, to);
}

void diff_runs_compare(const struct diff_runs *runs, uint32_t name, bool median, struct compare_run *to)
{
	static const struct diff_run_values none;
	const struct diff_run_values *of = name < runs->names ? &runs->past[name] : &none;

	describe(median ? of->median : of->mean, of->runs, 1, to);
}

void diff_runs_most(const struct spread *spread, struct compare_run *to)
{
	size_t buckets = spread->sketch ? xaudit_read_sketch_buckets(spread->sketch, NULL, 0) : 0;
	struct xaudit_read_bucket *bucket = memory_zeroed(buckets + 1, sizeof(*bucket));
	uint64_t most = spread->values - spread->values / 1000, left = most;
	double sum = 0, squares = 0, n = (double)most;

	if (buckets)
		xaudit_read_sketch_buckets(spread->sketch, bucket, buckets);
	for (size_t i = 0; i < buckets && left; i++) {
		uint64_t count = bucket[i].count < left ? bucket[i].count : left;
		double middle = ((double)bucket[i].low + (double)bucket[i].high) / 2;
		sum += middle * (double)count;
		squares += middle * middle * (double)count;
		left -= count;
	}
	double mean = most ? sum / n : 0, variance = most > 1 ? (squares - sum * mean) / (n - 1) : 0;
	*to = (struct compare_run){ .calls = n, .mean = mean, .variance = variance > 0 ? variance : 0 };
	free(bucket);
}

void diff_runs_free(struct diff_runs *runs)
{
	for (uint32_t i = 0; i < runs->names; i++) {
		spread_free(&runs->now[i]);
		free(runs->past[i].mean);
		free(runs->past[i].median);
	}
	free(runs->blocks);
	free(runs->now);
	free(runs->past);
	runs->now = NULL;
	runs->blocks = NULL;
	runs->past = NULL;
	runs->names = 0;
}
