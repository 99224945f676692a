/* SPDX-License-Identifier: MIT */
/*
 * The rows of a question that is answered by going through all calls: each a key of three numbers, and what was counted
 * of its calls. Percentiles, and all else, mean the same as in a profile (xaudit_read_profile): `total` is for the
 * caller to say, since it depends on what a row is about.
 *
 * Memory: per row, some hundred bytes and 512 for each octave that times fall in.
 *
 * One thread each. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_TALLY_H
#define XAUDIT_TOOL_SHOW_REPORT_TALLY_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/report/columns.h"

/* Times that were added up so that their mean and variance are known. */
struct spread {
	uint64_t values, first, min, max;
	double sum, squares; /* of the distances from the first */
	struct xaudit_read_sketch *sketch; /* NULL: there was none */
};

void spread_add(struct spread *spread, uint64_t value);
double spread_sum(const struct spread *spread);
double spread_mean(const struct spread *spread);
double spread_variance(const struct spread *spread); /* of the values behind these: by one less than their number */
uint64_t spread_percentile(const struct spread *spread, double percent); /* 0 if there are no values */
void spread_free(struct spread *spread);

struct tally_times {
	uint64_t total, self, sum;
	uint64_t cpu, cpu_self; /* of total and self; COLUMN_UNKNOWN: not known of some call */
};

struct tally {
	uint32_t key[3];
	uint64_t calls, counted, timed;
	/* Of the trace at hand, as ticks that are not rounded; and of those before it, in ns. */
	struct tally_times ticks, ns;
	struct spread time; /* from entry to end */
	struct spread own; /* the self times, if the question adds them */
};

struct tallies {
	struct tally *tally; /* [0] is none */
	uint32_t used; /* with [0] */
	struct hash by_key;
	const struct xaudit_read_calls *calls; /* of the trace at hand */
};

/* The calls of this cursor, of a trace, are next; and they are over: now their times are in `ns`. */
void tallies_begin(struct tallies *tallies, const struct xaudit_read_calls *calls);
void tallies_end(struct tallies *tallies);

/* The index of the row with this key, made if there is none. */
uint32_t tallies_find(struct tallies *tallies, uint32_t a, uint32_t b, uint32_t c);

/* Is its time known? */
static inline bool tally_is_timed(const struct xaudit_read_call *call)
{
	return call->how >= XAUDIT_READ_RETURNED && call->how <= XAUDIT_READ_CUT;
}

/* Adds a call that is over to a row; total: what it adds to the total of that, in ticks. Returns the row. */
struct tally *tallies_add(
	struct tallies *tallies, uint32_t row, const struct xaudit_read_call *call, uint64_t total);

/* When the traces are over: fills in all values of the line but the share; line->row becomes the tally. */
void tally_line(const struct tally *tally, struct report_line *line);

/* Takes all that was counted of a row, which is empty afterwards, into one of another key, which is empty. */
void tally_move(struct tally *to, struct tally *from);

void tallies_free(struct tallies *tallies);

#endif
