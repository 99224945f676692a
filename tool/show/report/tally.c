/* SPDX-License-Identifier: MIT */
#include "tool/show/report/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

/* ---- spread ---- */

void spread_add(struct spread *spread, uint64_t value)
{
	if (!spread->values++) {
		spread->first = spread->min = spread->max = value;
		spread->sketch = memory_need(xaudit_read_sketch());
	}
	spread->min = value < spread->min ? value : spread->min;
	spread->max = value > spread->max ? value : spread->max;
	/* Distances from one of the values are small where values are alike: so their squares lose nothing. */
	double distance = value > spread->first ? (double)(value - spread->first) : -(double)(spread->first - value);
	spread->sum += distance;
	spread->squares += distance * distance;
	if (xaudit_read_sketch_add(spread->sketch, value) < 0)
		memory_failed();
}

double spread_sum(const struct spread *spread)
{
	return (double)spread->first * (double)spread->values + spread->sum;
}

double spread_mean(const struct spread *spread)
{
	return spread->values ? (double)spread->first + spread->sum / (double)spread->values : 0;
}

double spread_variance(const struct spread *spread)
{
	double n = (double)spread->values;

	return n < 2 ? 0 : fmax(0, (spread->squares - spread->sum * spread->sum / n) / (n - 1));
}

uint64_t spread_percentile(const struct spread *spread, double percent)
{
	return spread->sketch ? xaudit_read_sketch_percentile(spread->sketch, percent) : 0;
}

void spread_free(struct spread *spread)
{
	xaudit_read_sketch_close(spread->sketch);
}

/* ---- rows ---- */

uint32_t tallies_find(struct tallies *tallies, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t hash = hash_key(hash_key(a, b), c);
	uint32_t found = HASH_FIND(i, &tallies->by_key, hash,
		tallies->tally[i].key[0] == a && tallies->tally[i].key[1] == b && tallies->tally[i].key[2] == c);

	if (found != HASH_NONE)
		return found;
	if (!tallies->used) {
		tallies->tally = memory_grow(NULL, 0, sizeof(*tallies->tally));
		tallies->tally[tallies->used++] = (struct tally){ 0 };
	}
	tallies->tally = memory_grow(tallies->tally, tallies->used, sizeof(*tallies->tally));
	memory_hash(&tallies->by_key, hash, tallies->used);
	tallies->tally[tallies->used] = (struct tally){ .key = { a, b, c } };
	return tallies->used++;
}

static void add_known(uint64_t *sum, uint64_t add)
{
	*sum = *sum == COLUMN_UNKNOWN || add == XAUDIT_READ_UNKNOWN ? COLUMN_UNKNOWN : *sum + add;
}
_Static_assert(COLUMN_UNKNOWN == XAUDIT_READ_UNKNOWN, "add_known() takes one for the other");

static uint64_t to_ns(const struct xaudit_read_calls *calls, uint64_t ticks)
{
	return ticks == COLUMN_UNKNOWN ? COLUMN_UNKNOWN : xaudit_read_calls_ns(calls, ticks);
}

void tallies_begin(struct tallies *tallies, const struct xaudit_read_calls *calls)
{
	tallies->calls = calls;
}

void tallies_end(struct tallies *tallies)
{
	for (uint32_t i = 1; i < tallies->used; i++) {
		struct tally *tally = &tallies->tally[i];

		tally->ns.total += xaudit_read_calls_ns(tallies->calls, tally->ticks.total);
		tally->ns.self += xaudit_read_calls_ns(tallies->calls, tally->ticks.self);
		tally->ns.sum += xaudit_read_calls_ns(tallies->calls, tally->ticks.sum);
		add_known(&tally->ns.cpu, to_ns(tallies->calls, tally->ticks.cpu));
		add_known(&tally->ns.cpu_self, to_ns(tallies->calls, tally->ticks.cpu_self));
		tally->ticks = (struct tally_times){ 0 };
	}
	tallies->calls = NULL;
}

struct tally *tallies_add(struct tallies *tallies, uint32_t row, const struct xaudit_read_call *call, uint64_t total)
{
	struct tally *tally = &tallies->tally[row];
	struct tally_times *ticks = &tally->ticks;

	tally->calls++;
	ticks->total += total;
	if (!tally_is_timed(call)) {
		/* In its total are other calls: it is not known here how long these were on processors. */
		if (total)
			ticks->cpu = COLUMN_UNKNOWN;
		return tally;
	}
	uint64_t time = call->ticks.self + call->ticks.children;
	tally->timed++;
	ticks->self += call->ticks.self;
	ticks->sum += time;
	if (total)
		add_known(&ticks->cpu, call->ticks.cpu);
	add_known(&ticks->cpu_self, call->ticks.cpu_self);
	spread_add(&tally->time, xaudit_read_calls_ns(tallies->calls, time));
	return tally;
}

void tally_line(const struct tally *tally, struct report_line *line)
{
	columns_unknown(line);
	line->row = tally;
	line->value[COLUMN_CALLS] = tally->calls;
	line->value[COLUMN_COUNTED] = tally->counted;
	line->value[COLUMN_TOTAL] = tally->ns.total;
	line->value[COLUMN_SELF] = tally->ns.self;
	if (!tally->timed)
		return;
	line->value[COLUMN_CPU] = tally->ns.cpu;
	line->value[COLUMN_CPU_SELF] = tally->ns.cpu_self;
	double n = (double)tally->timed, variance = spread_variance(&tally->time) * (n - 1) / n;
	line->value[COLUMN_MIN] = tally->time.min;
	line->value[COLUMN_AVG] = tally->ns.sum / tally->timed;
	line->value[COLUMN_DEVIATION] = (uint64_t)(sqrt(variance) + 0.5);
	line->value[COLUMN_P50] = spread_percentile(&tally->time, 50);
	line->value[COLUMN_P90] = spread_percentile(&tally->time, 90);
	line->value[COLUMN_P99] = spread_percentile(&tally->time, 99);
	line->value[COLUMN_P999] = spread_percentile(&tally->time, 99.9);
	line->value[COLUMN_MAX] = tally->time.max;
	line->value[COLUMN_SELF_AVG] = tally->ns.self / tally->timed;
	if (tally->own.values)
		line->value[COLUMN_SELF_P50] = spread_percentile(&tally->own, 50);
}

void tally_move(struct tally *to, struct tally *from)
{
	struct tally empty = { .key = { from->key[0], from->key[1], from->key[2] } };
	struct tally moved = *from;

	memcpy(moved.key, to->key, sizeof(moved.key));
	*to = moved;
	*from = empty;
}

void tallies_free(struct tallies *tallies)
{
	for (uint32_t i = 1; i < tallies->used; i++) {
		spread_free(&tallies->tally[i].time);
		spread_free(&tallies->tally[i].own);
	}
	free(tallies->tally);
	hash_free(&tallies->by_key);
	*tallies = (struct tallies){ 0 };
}
