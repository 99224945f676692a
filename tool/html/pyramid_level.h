/* SPDX-License-Identifier: MIT */
/*
 * One row of the pyramid at one level (pyramid.h): the column at hand, in which time is counted for each function, and
 * the columns before it as a text of runs: the value and its kind, and how many columns, each as a number of 7 bits per
 * byte, the lowest first; the highest bit is set in all bytes but the last.
 *
 * In one column at most LEVEL_FUNCTIONS functions are counted: if there are more, those with the least time so far go.
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_PYRAMID_LEVEL_H
#define XAUDIT_TOOL_HTML_PYRAMID_LEVEL_H

#include <stddef.h>
#include <stdint.h>

#include "tool/html/pyramid.h"

#define LEVEL_FUNCTIONS 128u
#define LEVEL_FEW	8u /* are looked through one by one */

struct level_time {
	uint64_t time;
	uint64_t up; /* of that, what the coarser level has not counted yet */
	uint32_t value;
};

struct level_run {
	uint32_t value, length;
	enum pyramid_kind kind;
	uint64_t call; /* PYRAMID_ONE: columns of different calls are not one run */
};

struct level {
	struct level *coarser; /* NULL: none */
	uint64_t start, width;
	uint32_t columns;
	/* The column at hand. */
	uint32_t column;
	uint64_t from, to;
	uint64_t time, up_time; /* of all calls; of that, what the coarser level has not counted */
	uint32_t pieces, up_pieces; /* calls that are there; that the coarser level has not counted */
	uint64_t call, up_call;	    /* the first one of them */
	struct level_time *function;
	uint8_t functions, room_functions;
	uint8_t *index; /* by hash, the number of a function, plus one; in use from LEVEL_FEW functions on */
	/* What came before it. */
	struct level_run run;
	uint8_t *text;
	uint32_t size, room;
	/* level_next() */
	uint32_t at;
	struct level_run next;
};

void level_begin(struct level *level, uint64_t start, uint64_t width, uint32_t columns, struct level *coarser);
void level_free(struct level *level);

/* Counts a call, here and in the coarser levels. call: another number for each call; value: not 0. */
void level_add(struct level *level, uint32_t value, uint64_t call, uint64_t from, uint64_t to);

/* Appends columns as they are. */
void level_put(struct level *level, uint32_t value, enum pyramid_kind kind, uint64_t call, uint32_t columns);

/* Nothing more comes: the finer level's end before the coarser one's. */
void level_end(struct level *level);

/* The next run, of at most so many columns. After the last one: of nothing. */
struct level_run level_next(struct level *level, uint32_t most);

#endif
