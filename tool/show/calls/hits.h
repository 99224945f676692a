/* SPDX-License-Identifier: MIT */
/*
 * When threads came to probes in a call, as slow and outliers show it: the first of these times and the last, with
 * their values; of more than `most` the number. One thread. When memory runs out, the command ends
 * (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_HITS_H
#define XAUDIT_TOOL_SHOW_CALLS_HITS_H

#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/show.h"

struct hits {
	struct hit {
		uint64_t time;
		const struct xaudit_read_probe *probe;
		char *values; /* "(n=3)"; NULL: it has none */
	} *hit; /* half of `most` from the beginning; behind them the others, which newer ones take the place of */
	uint32_t most; /* set before the first one, even; at least 2 */
	uint64_t all;
};

/* Takes an item that is a XAUDIT_READ_PROBE. */
void hits_take(struct hits *hits, const struct xaudit_read_item *item);

/*
 * Lines of text, each of what stands in front of it and how long after `start` it was, for a table; and
 * ,"probe_events":N,"probes":[...] of a JSON object. Nothing where no thread came to any.
 */
void hits_table(const struct hits *hits, uint64_t start, const struct show_colors *color);
void hits_lines(const struct hits *hits, uint64_t start, const char *before, const struct show_colors *color);
void hits_json(const struct hits *hits, uint64_t start);

void hits_free(struct hits *hits);

#endif
