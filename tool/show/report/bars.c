/* SPDX-License-Identifier: MIT */
#include "tool/show/report/bars.h"

/* Steps of a decade, in hundredths of its beginning, from the coarsest ladder to the finest. */
static const struct {
	unsigned steps;
	unsigned short step[64];
} ladder[] = {
	{ 3, { 100, 200, 500 } },
	{ 6, { 100, 150, 200, 300, 500, 700 } },
	{ 10, { 100, 120, 150, 200, 250, 300, 400, 500, 600, 800 } },
	{ 20, { 100, 110, 120, 130, 140, 150, 170, 200, 220, 250, 270, 300, 350, 400, 450, 500, 600, 700, 800, 900 } },
	{ 40, { 100, 105, 110, 115, 120, 125, 130, 135, 140, 145, 150, 160, 170, 180, 190, 200, 210, 220, 230, 240,
		      250, 260, 280, 300, 320, 340, 360, 380, 400, 425, 450, 475, 500, 550, 600, 650, 700, 750, 800,
		      900 } },
};

#define LADDERS (sizeof(ladder) / sizeof(*ladder))

/* Goes up a ladder by bounds that are whole. */
struct climb {
	unsigned ladder, step;
	uint64_t decade;
};

/* The lowest bound, 0, and those that follow; UINT64_MAX at the end. */
static uint64_t next_bound(struct climb *climb)
{
	for (;;) {
		if (climb->step == ladder[climb->ladder].steps) {
			climb->step = 0;
			if (climb->decade > UINT64_MAX / 10)
				return UINT64_MAX;
			climb->decade *= 10;
		}
		unsigned __int128 bound =
			(unsigned __int128)climb->decade * ladder[climb->ladder].step[climb->step++];
		if (bound / 100 > UINT64_MAX)
			return UINT64_MAX;
		if (bound % 100 == 0)
			return (uint64_t)(bound / 100);
	}
}

/* What all times of a range are taken for. */
static uint64_t place(const struct bars_range *range, uint32_t i, uint32_t ranges)
{
	if (!i)
		return range[i].first;
	return i + 1 == ranges ? range[i].last : range[i].first + (range[i].last - range[i].first) / 2;
}

/* Makes empty rows for times from `least` to `most`. Returns 0 if they are more than `room`. */
static uint32_t make_rows(struct bars *bars, unsigned which, uint64_t least, uint64_t most, uint32_t room)
{
	struct climb climb = { .ladder = which, .decade = 1 };
	uint64_t from = 0, to;
	uint32_t rows = 0;

	do {
		to = next_bound(&climb);
		if (to > least && rows == room)
			return 0;
		if (to > least)
			bars->row[rows++] = (struct bars_row){ .from = from, .to = to };
		from = to;
	} while (to <= most && to != UINT64_MAX);
	return rows;
}

void bars_make(struct bars *bars, const struct bars_range *range, uint32_t ranges)
{
	uint64_t least = UINT64_MAX, most = 0;

	*bars = (struct bars){ 0 };
	for (uint32_t i = 0; i < ranges; i++) {
		if (!range[i].count)
			continue;
		uint64_t at = place(range, i, ranges);
		least = at < least ? at : least;
		most = at > most ? at : most;
	}
	if (least > most)
		return;
	for (unsigned i = LADDERS; i-- && !bars->rows;)
		bars->rows = make_rows(bars, i, least, most, i ? BARS_ROWS : BARS_MOST);
	for (uint32_t i = 0; i < ranges; i++) {
		struct bars_row *row = bars->row;
		while (row < bars->row + bars->rows - 1 && row->to <= place(range, i, ranges))
			row++;
		row->count += range[i].count;
		bars->count += range[i].count;
	}
	for (uint32_t i = 0; i < bars->rows; i++)
		bars->most = bars->row[i].count > bars->most ? bars->row[i].count : bars->most;
}

unsigned bars_length(const struct bars *bars, const struct bars_row *row, unsigned width)
{
	unsigned length = bars->most ? (unsigned)((unsigned __int128)row->count * width / bars->most) : 0;

	return length ? length : row->count > 0;
}
