/* SPDX-License-Identifier: MIT */
#include "tool/html/draw.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/html/pyramid.h"
#include "tool/html/survey.h"
#include "tool/html/windows.h"

#define SHARES 16u /* of a column's time, as rows of processors tell it */

/* ---- time in columns ---- */

/* Sums of time in columns of the finest level. */
struct sums {
	uint64_t from, width;
	uint32_t columns;
	uint64_t *part; /* of stretches that begin or end in the column */
	int64_t *whole; /* how many stretches fill the columns from here on */
};

static void sums_open(struct sums *sums, const struct pyramid *pyramid)
{
	uint32_t finest = pyramid_levels(pyramid) - 1;

	*sums = (struct sums){ .from = pyramid_from(pyramid), .width = pyramid_width(pyramid, finest),
		.columns = PYRAMID_COLUMNS << finest };
	sums->part = memory_zeroed(sums->columns + 1, sizeof(*sums->part));
	sums->whole = memory_zeroed(sums->columns + 1, sizeof(*sums->whole));
}

static void sums_clear(struct sums *sums)
{
	memset(sums->part, 0, sums->columns * sizeof(*sums->part));
	memset(sums->whole, 0, sums->columns * sizeof(*sums->whole));
}

static void sums_close(struct sums *sums)
{
	free(sums->part);
	free(sums->whole);
}

static void sums_add(struct sums *sums, uint64_t from, uint64_t to)
{
	uint64_t end = sums->from + sums->columns * sums->width;

	from = from < sums->from ? sums->from : from;
	to = to < end ? to : end;
	if (from >= to)
		return;
	uint64_t first = (from - sums->from) / sums->width, last = (to - sums->from) / sums->width;
	if (first == last) {
		sums->part[first] += to - from;
		return;
	}
	sums->part[first] += sums->from + (first + 1) * sums->width - from;
	sums->part[last] += to - (sums->from + last * sums->width);
	sums->whole[first + 1]++;
	sums->whole[last]--;
}

/* Makes `part` the time of each column. */
static void sums_end(struct sums *sums)
{
	int64_t whole = 0;

	for (uint32_t i = 0; i < sums->columns; i++) {
		whole += sums->whole[i];
		sums->part[i] += (uint64_t)whole * sums->width;
	}
}

/* Of 1 << shift columns from `first` on. */
static uint64_t sums_of(const struct sums *sums, uint32_t first, uint32_t shift)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 1u << shift; i++)
		sum += sums->part[first + i];
	return sum;
}

/* ---- calls ---- */

static void take_call(struct html *html, struct sums *rest, const struct xaudit_read_item *item)
{
	const struct xaudit_read_call *call = item->call;
	struct track *track = page_tracks_of(&html->tracks, call);
	uint64_t from, to;

	html_span(html, item, &from, &to);
	if (track->place == TRACKS_NONE) {
		if (!call->depth)
			sums_add(rest, from, to);
		return;
	}
	bool loose = track_overlaps(track, call->depth, from, to);
	uint32_t number = page_functions_number(&html->functions, call->function);
	if (__builtin_expect(loose, 0)) {
		from = from > track->loose_last ? from : track->loose_last;
		track->loose_last = to > track->loose_last ? to : track->loose_last;
		if (to > from)
			pyramid_add(html->pyramid, track->loose, number, from, to);
		html_span(html, item, &from, &to);
	} else if (call->depth < track->rows) {
		pyramid_add(html->pyramid, track->row + call->depth, number, from, to);
	}
	if (windows_want(html->windows, from, to))
		windows_take(html, call, track, from, to, loose);
}

/* ---- other rows ---- */

static void draw_rest(struct html *html, struct sums *rest)
{
	const struct pyramid *pyramid = html->pyramid;
	uint32_t levels = pyramid_levels(pyramid);

	sums_end(rest);
	for (uint32_t l = 0; l < levels; l++) {
		uint32_t shift = levels - 1 - l;
		uint64_t width = pyramid_width(pyramid, l);
		for (uint32_t i = 0; i < PYRAMID_COLUMNS << l; i++) {
			uint64_t threads = (sums_of(rest, i << shift, shift) * SHARES + width - 1) / width;
			pyramid_put(html->pyramid, html->tracks.rest, l, (uint32_t)threads,
				threads ? PYRAMID_MANY : PYRAMID_ONE);
		}
	}
}

static void draw_shares(struct html *html, uint32_t row, const struct sums *on, const struct sums *unknown)
{
	const struct pyramid *pyramid = html->pyramid;
	uint32_t levels = pyramid_levels(pyramid);

	for (uint32_t l = 0; l < levels; l++) {
		uint32_t shift = levels - 1 - l;
		uint64_t width = pyramid_width(pyramid, l);
		for (uint32_t i = 0; i < PYRAMID_COLUMNS << l; i++) {
			bool known = sums_of(unknown, i << shift, shift) <= width / 2;
			uint64_t share = (sums_of(on, i << shift, shift) * SHARES + width / 2) / width;
			pyramid_put(html->pyramid, row, l, known ? (uint32_t)share + 1 : 0, PYRAMID_ONE);
		}
	}
}

static void draw_cpu(struct html *html, struct track *track, struct sums *on, struct sums *unknown)
{
	struct xaudit_read_runs *runs = memory_need(xaudit_read_runs(track->process, track->tid, NULL));
	struct xaudit_read_run run;
	uint64_t known = on->from, end = on->from + on->columns * on->width;

	sums_clear(on);
	sums_clear(unknown);
	while (xaudit_read_next_run(runs, &run)) {
		uint64_t from = html_after(html->start, run.from);
		uint64_t to = html_after(html->start, run.to);
		sums_add(unknown, known, from);
		known = to;
		if (run.state == XAUDIT_READ_RUN_ON)
			sums_add(on, from, to);
		else if (run.state == XAUDIT_READ_RUN_UNKNOWN)
			sums_add(unknown, from, to);
		else
			continue;
		windows_run(html->windows, track, from, to, run.state == XAUDIT_READ_RUN_ON);
	}
	sums_add(unknown, known, end);
	xaudit_read_runs_close(runs);
	sums_end(on);
	sums_end(unknown);
	draw_shares(html, track->cpu, on, unknown);
}

/* ---- all ---- */

void draw(struct html *html)
{
	struct survey *survey = html->survey;
	struct sums rest, unknown;
	struct xaudit_read_item item;

	html->pyramid = pyramid_open(&html->tracks, survey->from, survey->to);
	page_tracks_again(&html->tracks);
	sums_open(&rest, html->pyramid);
	struct xaudit_read_calls *calls = html_pass(html, html->trace, false, html->values || html->requests);
	while (html_next(html, calls, &item) != XAUDIT_READ_END)
		if (item.what == XAUDIT_READ_CALL)
			take_call(html, &rest, &item);
	xaudit_read_calls_close(calls);
	if (html->tracks.rest != TRACKS_NONE)
		draw_rest(html, &rest);
	if (html->cpu) {
		sums_open(&unknown, html->pyramid);
		for (uint32_t i = 0; i < html->tracks.shown; i++)
			if (html->tracks.track[i]->cpu != TRACKS_NONE)
				draw_cpu(html, html->tracks.track[i], &rest, &unknown);
		sums_close(&unknown);
	}
	sums_close(&rest);
}
