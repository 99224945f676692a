/* SPDX-License-Identifier: MIT */
/*
 * The table of functions: the rows of a profile, which are those of `xaudit report`, and which of them a function of
 * the trace is. A function's number in the page is that of its row; all beyond FUNCTIONS_MOST have one together. Behind
 * the profile's come functions that are only known as callers: their own calls are not among those that were asked for.
 *
 * One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_PAGE_FUNCTIONS_H
#define XAUDIT_TOOL_HTML_PAGE_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/html/blocks.h"
#include "tool/html/tracks.h"
#include "tool/read/api/xaudit-read.h"

#define FUNCTIONS_MOST 50000u

struct function_row {
	const struct xaudit_read_row *row;
	const struct xaudit_read_function *function; /* NULL: not met yet */
	uint64_t median, p99;
	const struct track *longest; /* of the call that took the longest; NULL: not known */
	int32_t rate;	    /* its number among those whose calls are counted over time; -1: it is none */
	bool around;	    /* --around names it */
};

/* Of a function of one trace: its row + 1; 0: not looked for yet. */
struct page_functions_map {
	uint32_t *number;
	uint32_t room;
};

struct page_functions {
	const struct xaudit_read_profile *profile;
	struct function_row *row; /* by number in the page; the last stands for all others */
	uint32_t rows, shown;	  /* of the profile; that have a number of their own: also the number of the others */
	struct xaudit_read_row **caller; /* of each that is only known as a caller */
	uint32_t callers;
	struct page_functions_map map; /* of html's trace */
	struct hash by_name;	  /* of a row's name and library */
	const char *around;	  /* what --around says; NULL */
};

void page_functions_open(struct page_functions *functions, const struct xaudit_read_profile *profile,
	const char *around);
void page_functions_close(struct page_functions *functions);

/*
 * The number in the page. The second and third one: for another opening of the same trace, whose functions have numbers
 * of their own; by another thread, too.
 */
uint32_t page_functions_find(struct page_functions *functions, const struct xaudit_read_function *function);
uint32_t page_functions_map_find(
	const struct page_functions *functions, struct page_functions_map *map,
	const struct xaudit_read_function *function);

/* Gives it a number of its own, if it has none. Not before all calls were read. */
uint32_t page_functions_caller(
	struct page_functions *functions, struct page_functions_map *map, const struct xaudit_read_function *function);

static inline uint32_t page_functions_map_number(
	const struct page_functions *functions, struct page_functions_map *map,
	const struct xaudit_read_function *function)
{
	if (__builtin_expect(function->number < map->room && map->number[function->number], 1))
		return map->number[function->number] - 1;
	return page_functions_map_find(functions, map, function);
}

static inline uint32_t page_functions_number(struct page_functions *functions,
	const struct xaudit_read_function *function)
{
	const struct page_functions_map *map = &functions->map;

	if (__builtin_expect(function->number < map->room && map->number[function->number], 1))
		return map->number[function->number] - 1;
	return page_functions_find(functions, function);
}

/* start: of the trace, ns. */
void page_functions_write(const struct page_functions *functions, struct blocks *blocks, uint64_t start);

#endif
