/* SPDX-License-Identifier: MIT */
#include "tool/html/pyramid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/html/pyramid_level.h"

/* Runs of all rows at all levels that may be kept, at 3 to 4 bytes each. */
#define RUNS_MOST (24u << 20)

/* Rows of processors change as often as threads do; if there are many, details are for calls. */
#define CPU_ROWS_MANY 256u

struct pyramid {
	struct tracks *tracks;
	uint64_t from, width; /* of the finest level */
	uint32_t levels;
	uint64_t calls;
	struct level *level; /* of row r at level l: r * PYRAMID_LEVELS + l */
};

static struct level *level_of(struct pyramid *pyramid, uint32_t row, uint32_t level)
{
	return &pyramid->level[(size_t)row * PYRAMID_LEVELS + level];
}

uint64_t pyramid_from(const struct pyramid *pyramid)
{
	return pyramid->from;
}

uint64_t pyramid_width(const struct pyramid *pyramid, uint32_t level)
{
	return pyramid->width << (pyramid->levels - 1 - level);
}

uint32_t pyramid_levels(const struct pyramid *pyramid)
{
	return pyramid->levels;
}

/* ---- which levels a row has ---- */

static int by_calls(const void *x, const void *y)
{
	const struct row *a = *(struct row *const *)x, *b = *(struct row *const *)y;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return a < b ? -1 : 1;
}

/* The rows with the most calls first. */
static struct row **sort_rows(const struct tracks *tracks)
{
	struct row **order = memory_zeroed(tracks->rows + 1ul, sizeof(*order));

	for (uint32_t i = 0; i < tracks->rows; i++)
		order[i] = &tracks->row[i];
	if (tracks->rows)
		qsort(order, tracks->rows, sizeof(*order), by_calls);
	return order;
}

static void give_levels(struct pyramid *pyramid)
{
	struct tracks *tracks = pyramid->tracks;
	struct row **order = sort_rows(tracks);
	uint64_t runs = 0;
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < tracks->rows; i++)
		cpus += tracks->row[i].kind == ROW_CPU;
	for (uint32_t l = 0; l < pyramid->levels; l++) {
		uint64_t columns = (uint64_t)PYRAMID_COLUMNS << l;
		for (uint32_t i = 0; i < tracks->rows; i++) {
			struct row *row = order[i];
			bool calls = row->kind == ROW_CALLS || row->kind == ROW_LOOSE;
			uint64_t most = calls && row->calls < columns / 2 ? 2 * row->calls + 1 : columns;
			if (row->levels < l || (row->kind == ROW_CPU && l && cpus > CPU_ROWS_MANY) ||
				(l && runs + most > RUNS_MOST))
				continue;
			runs += most;
			row->levels = l + 1;
		}
	}
	free(order);
}

struct pyramid *pyramid_open(struct tracks *tracks, uint64_t from, uint64_t to)
{
	struct pyramid *pyramid = memory_zeroed(1, sizeof(*pyramid));
	uint64_t span = to > from ? to - from : 1;

	*pyramid = (struct pyramid){ .tracks = tracks, .from = from, .levels = PYRAMID_LEVELS };
	while (pyramid->levels > 1 && span < (uint64_t)PYRAMID_COLUMNS << (pyramid->levels - 1))
		pyramid->levels--;
	uint64_t columns = (uint64_t)PYRAMID_COLUMNS << (pyramid->levels - 1);
	pyramid->width = (span + columns - 1) / columns;
	give_levels(pyramid);
	pyramid->level = memory_zeroed((tracks->rows + 1ul) * PYRAMID_LEVELS, sizeof(*pyramid->level));
	for (uint32_t r = 0; r < tracks->rows; r++)
		for (uint32_t l = 0; l < pyramid->levels; l++)
			level_begin(level_of(pyramid, r, l), from, pyramid_width(pyramid, l), PYRAMID_COLUMNS << l,
				l ? level_of(pyramid, r, l - 1) : NULL);
	return pyramid;
}

void pyramid_close(struct pyramid *pyramid)
{
	for (size_t i = 0; i < (size_t)pyramid->tracks->rows * PYRAMID_LEVELS; i++)
		level_free(&pyramid->level[i]);
	free(pyramid->level);
	free(pyramid);
}

/* ---- what rows have ---- */

void pyramid_add(struct pyramid *pyramid, uint32_t row, uint32_t function, uint64_t from, uint64_t to)
{
	uint32_t levels = pyramid->tracks->row[row].levels;

	if (levels)
		level_add(level_of(pyramid, row, levels - 1), function + 1, ++pyramid->calls, from, to);
}

void pyramid_put(struct pyramid *pyramid, uint32_t row, uint32_t level, uint32_t value, enum pyramid_kind kind)
{
	if (level < pyramid->tracks->row[row].levels)
		level_put(level_of(pyramid, row, level), value, kind, 0, 1);
}

/* ---- blocks ---- */

struct tile {
	uint64_t (*row)[2], (*run)[2];
	uint32_t rows, runs, room;
};

static void add_run(struct tile *tile, uint32_t value, uint32_t form)
{
	if (tile->runs == tile->room) {
		tile->room = tile->room ? tile->room * 2 : 1024;
		tile->run = memory_resize(tile->run, tile->room, sizeof(*tile->run));
	}
	tile->run[tile->runs][0] = value;
	tile->run[tile->runs++][1] = form;
}

/* The next 2048 columns of a row. A row that is empty there is left out. */
static void add_row(struct tile *tile, uint32_t row, struct level *level)
{
	uint32_t before = tile->runs, left = PYRAMID_COLUMNS;
	bool empty = true;

	while (left) {
		struct level_run run = level_next(level, left);
		add_run(tile, run.value, (run.length - 1) | (uint32_t)run.kind << 11);
		left -= run.length;
		empty = empty && !run.value;
	}
	if (empty) {
		tile->runs = before;
		return;
	}
	tile->row[tile->rows][0] = row;
	tile->row[tile->rows++][1] = tile->runs - before;
}

static void write_level(struct pyramid *pyramid, struct blocks *blocks, uint32_t l)
{
	struct tracks *tracks = pyramid->tracks;
	struct tile tile = { .row = memory_zeroed(tracks->rows + 1ul, sizeof(*tile.row)) };
	struct container c;
	char name[24];

	for (uint32_t k = 0; k < 1u << l; k++) {
		tile.rows = tile.runs = 0;
		for (uint32_t r = 0; r < tracks->rows; r++)
			if (tracks->row[r].levels > l)
				add_row(&tile, r, level_of(pyramid, r, l));
		if (!tile.rows)
			continue;
		container_begin(&c);
		container_rows(&c, tile.rows, 2, tile.row[0]);
		container_rows(&c, tile.runs, 2, tile.run[0]);
		snprintf(name, sizeof(name), "t%" PRIu32 ".%" PRIu32, l, k);
		blocks_container(blocks, name, &c);
	}
	free(tile.row);
	free(tile.run);
}

/*
 * Takes this level, and those behind it, from rows so that the level takes no more than so many bytes; each byte of a
 * row's text becomes `rate`. Returns how many bytes of text are left.
 */
static uint64_t cut_level(struct pyramid *pyramid, uint32_t l, double most, double rate)
{
	struct row **order = sort_rows(pyramid->tracks);
	double bytes = 0;
	uint64_t text = 0;

	for (uint32_t i = 0; i < pyramid->tracks->rows; i++) {
		struct row *row = order[i];
		uint32_t size = level_of(pyramid, (uint32_t)(row - pyramid->tracks->row), l)->size;
		if (row->levels <= l)
			continue;
		if (l && bytes + size * rate > most) {
			row->levels = l;
			continue;
		}
		bytes += size * rate;
		text += size;
	}
	free(order);
	return text;
}

void pyramid_write(struct pyramid *pyramid, struct blocks *blocks, size_t most, FILE *head)
{
	size_t before = blocks->packed;
	double rate = 0.5; /* of the first level */
	uint32_t l;

	for (uint32_t r = 0; r < pyramid->tracks->rows; r++)
		for (l = pyramid->tracks->row[r].levels; l--;)
			level_end(level_of(pyramid, r, l));
	for (l = 0; l < pyramid->levels; l++) {
		size_t used = blocks->packed - before, now = blocks->packed;
		uint64_t text = cut_level(pyramid, l, most > used ? (double)(most - used) : 0, rate);
		if (!text && l)
			break;
		write_level(pyramid, blocks, l);
		blocks_pack(blocks);
		rate = text ? (double)(blocks->packed - now) / (double)text : rate;
	}
	fprintf(head, "\"pyramid\":{\"columns\":%u,\"from\":%" PRIu64 ",\"width\":%" PRIu64 ",\"levels\":%" PRIu32 "}",
		PYRAMID_COLUMNS, pyramid->from, pyramid_width(pyramid, l - 1), l);
}
