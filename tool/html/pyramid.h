/* SPDX-License-Identifier: MIT */
/*
 * The timeline at several levels of detail. Level L has 2048 << L columns of equal width; for each row and column it
 * tells which function's calls cover most of it, if any do. So what is drawn costs the same, however many calls there
 * are, and what is drawn of many is told to be an aggregate.
 *
 * Calls of a row come in the order of time, and do not overlap. Most begin and end in one column of the finest level:
 * these are counted there, and once for the coarser ones when the column is complete; others are counted in each level,
 * up to the one in which they are within a column. What a row has at a level is a text of runs of equal columns.
 *
 * Which levels a row has: all that fit in the bytes that there are. First by how many calls it has, which bounds its
 * runs (pyramid_open()), so memory is bounded; then by what was counted (pyramid_write()).
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_PYRAMID_H
#define XAUDIT_TOOL_HTML_PYRAMID_H

#include <stdint.h>
#include <stdio.h>

#include "tool/html/blocks.h"
#include "tool/html/tracks.h"

#define PYRAMID_COLUMNS 2048u /* of a tile */
#define PYRAMID_LEVELS	4u

/* Of a run of columns, as the page has it. */
enum pyramid_kind {
	PYRAMID_ONE,	/* of one call, or nothing */
	PYRAMID_MANY,	/* of several: the function that covers most */
	PYRAMID_SPARSE, /* the same, but they cover less than a quarter of the column */
	PYRAMID_KINDS
};

struct pyramid;

/* from, to: the time that it spans. */
struct pyramid *pyramid_open(struct tracks *tracks, uint64_t from, uint64_t to);
void pyramid_close(struct pyramid *pyramid);

/* Adds a call to a row, `function` being its number. */
void pyramid_add(struct pyramid *pyramid, uint32_t row, uint32_t function, uint64_t from, uint64_t to);

/*
 * The same for rows that are no calls': all columns of a level in order, the first of the level first. value: 0:
 * nothing.
 */
void pyramid_put(struct pyramid *pyramid, uint32_t row, uint32_t level, uint32_t value, enum pyramid_kind kind);

/* The columns of a level: `from` + n * its width. */
uint64_t pyramid_from(const struct pyramid *pyramid);
uint64_t pyramid_width(const struct pyramid *pyramid, uint32_t level);
uint32_t pyramid_levels(const struct pyramid *pyramid);

/* The tiles as blocks that take not much more than so many bytes, and the member of the head. */
void pyramid_write(struct pyramid *pyramid, struct blocks *blocks, size_t most, FILE *head);

#endif
