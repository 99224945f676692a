/* SPDX-License-Identifier: MIT */
#include "tool/html/pyramid_level.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define SLOTS_FIRST 8u

void level_begin(struct level *level, uint64_t start, uint64_t width, uint32_t columns, struct level *coarser)
{
	*level = (struct level){ .coarser = coarser, .start = start, .width = width, .columns = columns, .from = start,
		.to = start + width };
}

void level_free(struct level *level)
{
	free(level->slot);
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

static struct level_time *slot_of(const struct level *level, uint32_t value)
{
	uint32_t mask = level->slots - 1;
	uint32_t i = (value * 2654435769u >> 16) & mask;

	while (level->slot[i].value && level->slot[i].value != value)
		i = (i + 1) & mask;
	return &level->slot[i];
}

/* Puts those of these slots that have so much time, and are not more than `most`, into new ones. */
static void take_over(
	struct level *level, const struct level_time *old, uint32_t slots, uint64_t least, uint32_t most)
{
	level->used = 0;
	for (uint32_t i = 0; i < slots && level->used < most; i++) {
		if (!old[i].value || old[i].time < least)
			continue;
		*slot_of(level, old[i].value) = old[i];
		level->used++;
	}
}

/* Makes room in the slots: more of them; or those with less time than most go, and of equal ones half. */
static void make_room(struct level *level)
{
	struct level_time *old = level->slot;
	uint32_t slots = level->slots, most = LEVEL_FUNCTIONS / 2;
	uint64_t sum = 0, least = 0;

	if (level->used == LEVEL_FUNCTIONS) {
		for (uint32_t i = 0; i < slots; i++)
			sum += old[i].time;
		for (uint32_t i = 0; i < slots; i++)
			if (old[i].time > sum / LEVEL_FUNCTIONS) {
				least = sum / LEVEL_FUNCTIONS + 1;
				most = LEVEL_FUNCTIONS;
			}
	} else {
		level->slots = slots ? slots * 2 : SLOTS_FIRST;
		most = LEVEL_FUNCTIONS;
	}
	level->slot = memory_zeroed(level->slots, sizeof(*level->slot));
	take_over(level, old, slots, least, most);
	free(old);
}

static void count(struct level *level, uint32_t value, uint64_t time, uint64_t up)
{
	if (__builtin_expect(level->used * 4 >= level->slots * 3 || level->used == LEVEL_FUNCTIONS, 0))
		make_room(level);
	struct level_time *slot = slot_of(level, value);
	level->used += !slot->value;
	slot->value = value;
	slot->time += time;
	slot->up += up;
	level->time += time;
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
	for (uint32_t i = 0; i < level->slots; i++)
		if (level->slot[i].up)
			count(coarser, level->slot[i].value, level->slot[i].up, level->slot[i].up);
	count_piece(coarser, level->up_call, level->up_pieces, true);
}

/* The column is complete. */
static void complete(struct level *level)
{
	const struct level_time *best = NULL;

	tell(level);
	for (uint32_t i = 0; i < level->slots; i++) {
		const struct level_time *slot = &level->slot[i];
		if (slot->value && (!best || slot->time > best->time ||
			(slot->time == best->time && slot->value < best->value)))
			best = slot;
	}
	enum pyramid_kind kind = level->pieces < 2 ? PYRAMID_ONE :
		level->time < level->width / 4	   ? PYRAMID_SPARSE : PYRAMID_MANY;
	level_put(level, best ? best->value : 0, kind, best ? level->call : 0, 1);
	if (level->used)
		memset(level->slot, 0, level->slots * sizeof(*level->slot));
	level->used = level->pieces = level->up_pieces = 0;
	level->time = 0;
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
