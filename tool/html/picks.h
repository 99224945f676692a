/* SPDX-License-Identifier: MIT */
/* Calls that are worth a look, each a few numbers: the longest of those that were shown to it. One thread. */
#ifndef XAUDIT_TOOL_HTML_PICKS_H
#define XAUDIT_TOOL_HTML_PICKS_H

#include <stdint.h>
#include <stdio.h>

#include "tool/html/page_functions.h"
#include "tool/html/tracks.h"

#define PICKS_MOST 24

struct pick {
	uint64_t key; /* by which they are chosen */
	uint64_t from, to, self;
	const struct track *track; /* NULL: not known */
	uint32_t function;
	uint32_t window; /* in which it is; UINT32_MAX: none */
};

struct picks {
	struct pick pick[PICKS_MOST]; /* the highest key first */
	uint32_t count, most;	      /* most: set by the caller, up to PICKS_MOST */
};

/* Is a key among the highest so far? */
static inline int picks_wants(const struct picks *picks, uint64_t key)
{
	return picks->count < picks->most || key > picks->pick[picks->count - 1].key;
}

/* Adds a call that it wants. */
void picks_add(struct picks *picks, const struct pick *pick);

/* As a list in JSON. */
void picks_write(const struct picks *picks, const struct page_functions *functions, FILE *to);

#endif
