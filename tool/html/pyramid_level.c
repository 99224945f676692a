/* SPDX-License-Identifier: MIT */
#include "tool/html/pyramid_level.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define INDEX 256u /* as many as a byte tells apart */

void level_begin(struct level *level, uint64_t start, uint64_t width, uint32_t columns, struct level *coarser)
{
	*level = (struct level){ .coarser = coarser, .start = start, .width = width, .columns = columns, .from = start,
		.to = start + width };
}

void level_free(struct level *level)
{
	free(level->function);
	free(level->index);
	free(level->text);
}

/* ---- runs ---- */

static void put_number(struct level *level, uint64_t number)
{
	if (level->room - level->size < 10) {
		level->room = level->room ? level->room + level->room / 2 : 24;
		level->text = memory_resize(level->text, level->room, 1);
	}
	for (; number >> 7; number >>= 7)
		level->text[level->size++] = (uint8_t)(number | 0x80);
	level->text[level->size++] = (uint8_t)number;
}

static void put_run(struct level *level)
{
	if (!level->run.length)
		return;
	put_number(level, (uint64_t)level->run.value << 2 | level->run.kind);
	put_number(level, level->run.length);
}

void level_put(struct level *level, uint32_t value, enum pyramid_kind kind, uint64_t call, uint32_t columns)
{
	struct level_run *run = &level->run;

	if (!columns)
		return;
	if (run->length && run->value == value && run->kind == kind && (kind != PYRAMID_ONE || run->call == call)) {
		run->length += columns;
		return;
	}
	put_run(level);
	*run = (struct level_run){ value, columns, kind, call };
}

static uint64_t take_number(struct level *level)
{
	uint64_t number = 0;
	unsigned shift = 0;

	do
		number |= (uint64_t)(level->text[level->at] & 0x7f) << shift;
	while (shift += 7, level->text[level->at++] & 0x80);
	return number;
}

struct level_run level_next(struct level *level, uint32_t most)
{
	struct level_run *next = &level->next, run;

	if (!next->length && level->at < level->size) {
		uint64_t number = take_number(level);
		next->value = (uint32_t)(number >> 2);
		next->kind = number & 3;
		next->length = (uint32_t)take_number(level);
	} else if (!next->length) {
		*next = (struct level_run){ .length = UINT32_MAX };
	}
	run = *next;
	run.length = run.length < most ? run.length : most;
	next->length -= run.length;
	return run;
}

/* ---- the column at hand ---- */

static uint8_t *place_of(const struct level *level, uint32_t value)
{
	uint8_t i = (uint8_t)(value * 2654435769u >> 24);

	while (level->index[i] && level->function[level->index[i] - 1].value != value)
		i++;
	return &level->index[i];
}

static void index_all(struct level *level)
{
	if (!level->index)
		level->index = memory_zeroed(INDEX, 1);
	memset(level->index, 0, INDEX);
	for (uint8_t i = 0; i < level->functions; i++)
		*place_of(level, level->function[i].value) = i + 1;
}

/* Those with less time than most go; of equal ones half. */
static void drop_some(struct level *level)
{
	uint64_t sum = 0, least;
	uint8_t kept = 0;

	for (uint8_t i = 0; i < level->functions; i++)
		sum += level->function[i].time;
	least = sum / level->functions + 1;
	for (uint8_t i = 0; i < level->functions; i++)
		if (level->function[i].time >= least)
			level->function[kept++] = level->function[i];
	level->functions = kept ? kept : LEVEL_FUNCTIONS / 2;
	index_all(level);
}

static struct level_time *add_function(struct level *level, uint32_t value)
{
	if (level->functions == LEVEL_FUNCTIONS)
		drop_some(level);
	if (level->functions == level->room_functions) {
		level->room_functions = level->room_functions ? level->room_functions * 2 : 4;
		level->function = memory_resize(level->function, level->room_functions, sizeof(*level->function));
	}
	level->function[level->functions] = (struct level_time){ .value = value };
	if (++level->functions == LEVEL_FEW + 1)
		index_all(level);
	else if (level->functions > LEVEL_FEW)
		*place_of(level, value) = level->functions;
	return &level->function[level->functions - 1];
}

static struct level_time *function_of(struct level *level, uint32_t value)
{
	if (__builtin_expect(level->functions > LEVEL_FEW, 0)) {
		uint8_t found = *place_of(level, value);
		return found ? &level->function[found - 1] : add_function(level, value);
	}
	for (uint8_t i = 0; i < level->functions; i++)
		if (level->function[i].value == value)
			return &level->function[i];
	return add_function(level, value);
}

static void count(struct level *level, uint32_t value, uint64_t time, uint64_t up)
{
	struct level_time *function = function_of(level, value);

	function->time += time;
	function->up += up;
	level->time += time;
	level->up_time += up;
}

/* A call is there. up: the coarser level has not counted it. */
static void count_piece(struct level *level, uint64_t call, uint32_t pieces, bool up)
{
	level->call = level->pieces ? level->call : call;
	level->pieces += pieces;
	if (!up)
		return;
	level->up_call = level->up_pieces ? level->up_call : call;
	level->up_pieces += pieces;
}

static void go_to(struct level *level, uint32_t column);

/* Tells the coarser level. */
static void tell(struct level *level)
{
	struct level *coarser = level->coarser;

	if (!coarser || !level->up_pieces)
		return;
	go_to(coarser, level->column / 2);
	for (uint8_t i = 0; i < level->functions; i++) {
		uint64_t up = level->function[i].up;
		level->up_time -= up;
		if (up)
			count(coarser, level->function[i].value, up, up);
	}
	/* What is left is of functions that were dropped. */
	coarser->time += level->up_time;
	coarser->up_time += level->up_time;
	count_piece(coarser, level->up_call, level->up_pieces, true);
}

/* The column is complete. */
static void complete(struct level *level)
{
	const struct level_time *best = NULL;

	tell(level);
	for (uint8_t i = 0; i < level->functions; i++) {
		const struct level_time *function = &level->function[i];
		if (!best || function->time > best->time ||
			(function->time == best->time && function->value < best->value))
			best = function;
	}
	enum pyramid_kind kind = level->pieces < 2 ? PYRAMID_ONE :
		level->time < level->width / 4	   ? PYRAMID_SPARSE : PYRAMID_MANY;
	level_put(level, best ? best->value : 0, kind, best ? level->call : 0, 1);
	level->functions = 0;
	level->pieces = level->up_pieces = 0;
	level->time = level->up_time = 0;
}

static void go_to(struct level *level, uint32_t column)
{
	if (column <= level->column)
		return;
	complete(level);
	level_put(level, 0, PYRAMID_ONE, 0, column - level->column - 1);
	level->column = column;
	level->from = level->start + column * level->width;
	level->to = level->from + level->width;
}

void level_end(struct level *level)
{
	if (level->run.length + level->size && !level->pieces && !level->column) {
		put_run(level); /* of level_put() alone */
		level->run.length = 0;
		return;
	}
	complete(level);
	put_run(level);
	level->run.length = 0;
}

/* ---- calls ---- */

static uint32_t column_of(const struct level *level, uint64_t time)
{
	return (uint32_t)((time - level->start) / level->width);
}

void level_add(struct level *level, uint32_t value, uint64_t call, uint64_t from, uint64_t to)
{
	uint64_t end = level->start + level->columns * level->width;

	/* What is told late is in the column at hand. A call that took no time is there, too. */
	for (; level; level = level->coarser) {
		uint64_t begin = from < level->from ? level->from : from < end ? from : end - 1;
		uint64_t last = to <= begin ? begin + 1 : to < end ? to : end;
		if (begin >= level->to)
			go_to(level, column_of(level, begin));
		if (last <= level->to) {
			count(level, value, last - begin, last - begin);
			count_piece(level, call, 1, true);
			return;
		}
		count(level, value, level->to - begin, 0);
		count_piece(level, call, 1, false);
		uint32_t first = level->column, behind = column_of(level, last - 1);
		/* The column at hand, those that it fills, and the one in which it ends. */
		complete(level);
		level_put(level, value, PYRAMID_ONE, call, behind - first - 1);
		level->column = behind;
		level->from = level->start + behind * level->width;
		level->to = level->from + level->width;
		count(level, value, last - level->from, 0);
		count_piece(level, call, 1, false);
	}
}
