/* SPDX-License-Identifier: MIT */
#include "tool/html/windows.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/html/survey.h"
#include "tool/html/text.h"
#include "tool/show/values.h"

#define MARKS	   12u
#define LEAST	   20000u  /* calls of a window */
#define MOST	   100000u
#define TEXT_MOST  500u	   /* bytes of the values of a call */
#define TEXTS_MOST (8u << 20) /* bytes of the values of a window's calls */

/* ---- plan ---- */

/* Is it within a window that is planned already? Then the call is there. */
static uint32_t find_window(const struct windows *windows, const struct track *track, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < windows->count; i++) {
		const struct window *window = &windows->window[i];
		if (window->from <= from && to <= window->to && (!window->track || window->track == track))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t add_window(struct windows *windows, const struct window *window)
{
	if (windows->count == WINDOWS_MOST)
		return UINT32_MAX;
	windows->window[windows->count] = *window;
	return windows->count++;
}

/* Adds as much time on both sides as has few enough calls; but not more than ten times what it has, or 1 ms. */
static void grow(struct window *window, const struct counts *counts, uint64_t most, uint64_t end)
{
	uint64_t from = window->from, to = window->to, longest = (to - from) * 10;

	longest = longest > 1000000 ? longest : 1000000;
	for (uint64_t add = (uint64_t)1 << counts->shift; add <= longest; add *= 2) {
		uint64_t first = from > add ? from - add : 0, last = to + add < end ? to + add : end;
		if (counts_between(counts, first, last) > most)
			break;
		window->from = first;
		window->to = last;
	}
}

/* The first so many calls of a stretch, in whole columns; or the last ones. */
static uint64_t first_part(const struct counts *counts, uint64_t from, uint64_t to, uint64_t most)
{
	uint64_t width = (uint64_t)1 << counts->shift, at = (from | (width - 1)) + 1;

	while (at + width < to && counts_between(counts, from, at + width) <= most)
		at += width;
	return at < to ? at : to;
}

static uint64_t last_part(const struct counts *counts, uint64_t from, uint64_t to, uint64_t most)
{
	uint64_t width = (uint64_t)1 << counts->shift, at = to & ~(width - 1);

	while (at > from + width && counts_between(counts, at - width, to) <= most)
		at -= width;
	return at > from ? at : from;
}

/* Returns the number of the window that has the call, or its beginning. */
static uint32_t plan_call(struct html *html, struct window window)
{
	struct windows *windows = html->windows;
	const struct survey *survey = html->survey;
	uint64_t end = survey->to + 1, most = window.most, from = window.from, to = window.to + 1;
	const struct track *track = window.track;

	to = to < end ? to : end;
	uint32_t found = find_window(windows, track, from, to);
	if (found != UINT32_MAX)
		return found;
	window.to = to;
	window.track = NULL;
	if (counts_between(&survey->when, from, to) <= most) {
		grow(&window, &survey->when, most, end);
		return add_window(windows, &window);
	}
	window.track = track;
	if (!track || track->place == TRACKS_NONE)
		return UINT32_MAX;
	if (counts_between(&track->counts, from, to) <= most) {
		grow(&window, &track->counts, most, end);
		return add_window(windows, &window);
	}
	window.to = first_part(&track->counts, from, to, most / 2);
	found = add_window(windows, &window);
	window.from = last_part(&track->counts, window.to, to, most / 2);
	window.to = to;
	add_window(windows, &window);
	return found;
}

static void plan_picks(struct html *html, struct picks *picks, enum window_why why, uint64_t most)
{
	for (uint32_t i = 0; i < picks->count; i++) {
		struct pick *pick = &picks->pick[i];
		pick->window = plan_call(html, (struct window){ .why = why, .pick = pick, .from = pick->from,
			.to = pick->to, .track = pick->track, .most = most });
	}
}

/* The first marks; of the same time there is one. */
static void plan_marks(struct html *html, uint64_t most)
{
	const struct lanes *lanes = &html->survey->lanes;
	uint32_t marks = 0;

	for (uint32_t i = 0; i < lanes->events && marks < MARKS; i++) {
		const struct lane_event *event = &lanes->event[i];
		if (!event->mark)
			continue;
		marks++;
		plan_call(html, (struct window){ .why = WINDOW_MARK, .text = event->text, .from = event->time,
			.to = event->time, .track = event->track, .most = most });
	}
}

static uint32_t count_marks(const struct lanes *lanes)
{
	uint32_t marks = 0;

	for (uint32_t i = 0; i < lanes->events; i++)
		marks += lanes->event[i].mark;
	return marks < MARKS ? marks : MARKS;
}

/* Sorts the windows by time; picks have the new numbers. */
static void sort_windows(struct windows *windows, struct picks *picks[], uint32_t count)
{
	uint32_t place[WINDOWS_MOST];
	struct window *sorted = memory_zeroed(windows->count + 1ul, sizeof(*sorted));

	for (uint32_t i = 0; i < windows->count; i++) {
		place[i] = 0;
		for (uint32_t k = 0; k < windows->count; k++)
			place[i] += windows->window[k].from < windows->window[i].from ||
				    (windows->window[k].from == windows->window[i].from && k < i);
		sorted[place[i]] = windows->window[i];
	}
	memcpy(windows->window, sorted, windows->count * sizeof(*sorted));
	free(sorted);
	for (uint32_t p = 0; p < count; p++)
		for (uint32_t i = 0; i < picks[p]->count; i++)
			if (picks[p]->pick[i].window != UINT32_MAX)
				picks[p]->pick[i].window = place[picks[p]->pick[i].window];
}

static void plan(struct html *html)
{
	struct survey *survey = html->survey;
	struct picks *picks[] = { &survey->around, &survey->outliers, &survey->slowest };
	uint64_t wishes = count_marks(&survey->lanes);

	for (uint32_t i = 0; i < 3; i++)
		wishes += picks[i]->count;
	if (survey->calls <= WINDOWS_WHOLE) {
		add_window(html->windows, &(struct window){ .why = WINDOW_ALL, .from = survey->from,
			.to = survey->to + 1, .most = WINDOWS_WHOLE });
		wishes = 0;
		for (uint32_t p = 0; p < 3; p++)
			for (uint32_t i = 0; i < picks[p]->count; i++)
				picks[p]->pick[i].window = 0;
		return;
	}
	uint64_t most = wishes ? WINDOWS_CALLS / wishes : MOST;
	most = most < LEAST ? LEAST : most < MOST ? most : MOST;
	plan_picks(html, &survey->around, WINDOW_AROUND, most);
	plan_marks(html, most);
	plan_picks(html, &survey->outliers, WINDOW_OUTLIER, most);
	plan_picks(html, &survey->slowest, WINDOW_SLOW, most);
	sort_windows(html->windows, picks, 3);
}

void windows_plan(struct html *html)
{
	struct windows *windows = html->windows = memory_zeroed(1, sizeof(*windows));
	uint32_t *before = memory_zeroed(SURVEY_COLUMNS + 2, sizeof(*before));

	plan(html);
	windows->shift = html->survey->when.shift;
	windows->before = before;
	for (uint32_t i = 0; i < windows->count; i++) {
		struct window *window = &windows->window[i];
		window->of_track = memory_zeroed(html->tracks.shown * 2ul + 1, sizeof(*window->of_track));
		uint64_t last = (window->to - 1) >> windows->shift;
		for (uint64_t c = window->from >> windows->shift; c <= SURVEY_COLUMNS && c <= last; c++)
			before[c + 1] = 1;
	}
	for (uint32_t c = 1; c < SURVEY_COLUMNS + 2; c++)
		before[c] += before[c - 1];
}

/* ---- texts ---- */

static const char *text_at(const struct window *window, uint32_t number)
{
	return window->texts + window->at[number];
}

/* The number of a text, from 1 on; 0: there is no room. */
static uint32_t add_text(struct window *window, const char *text)
{
	uint32_t hash = hash_text(0, text), length = (uint32_t)strlen(text);
	uint32_t found = HASH_FIND(i, &window->by_text, hash, !strcmp(text_at(window, i), text));

	if (found != HASH_NONE)
		return found + 1;
	if (window->size + length + 1 > TEXTS_MOST)
		return 0;
	while (window->room - window->size < length + 1) {
		window->room = window->room ? window->room * 2 : 4096;
		window->texts = memory_resize(window->texts, window->room, 1);
	}
	window->at = memory_grow(window->at, window->count, sizeof(*window->at));
	window->at[window->count] = window->size;
	memcpy(window->texts + window->size, text, length + 1);
	window->size += length + 1;
	memory_hash(&window->by_text, hash, window->count);
	return ++window->count;
}

static uint32_t add_values(struct window *window, const struct xaudit_read_call *call)
{
	char *text = values_text(call);
	uint32_t number;

	if (!text)
		return 0;
	text = html_cut(text, TEXT_MOST);
	number = add_text(window, text);
	free(text);
	return number;
}

/* ---- what windows have ---- */

static struct segment *segment_of(struct window *window, uint32_t number, struct track *track, bool cpu)
{
	uint32_t *segment = &window->of_track[number];

	if (!*segment) {
		window->segment = memory_grow(window->segment, window->segments, sizeof(*window->segment));
		window->segment[window->segments] = (struct segment){ .track = track, .from = window->from,
			.to = window->to, .cpu = cpu };
		*segment = ++window->segments;
	}
	return &window->segment[*segment - 1];
}

/*
 * A place for what began and ended then; NULL: the segment has no room. Calls come when they are over: so where there
 * is no room any more, the segment has all that ended before, and gets the calls around that, too.
 */
static struct window_call *place_for(struct window *window, struct segment *segment, uint64_t from, uint64_t to)
{
	if (!segment->cut && (segment->calls >= window->most || window->calls >= 3 * window->most)) {
		segment->cut = window->cut = true;
		segment->to = segment->last > segment->from ? segment->last : segment->from;
	}
	if (segment->cut && (from >= segment->to || segment->calls >= 8 * window->most))
		return NULL;
	if (segment->calls == segment->room) {
		segment->room = segment->room ? segment->room + segment->room / 2 : 64;
		segment->call = memory_resize(segment->call, segment->room, sizeof(*segment->call));
	}
	if (!segment->cut)
		segment->last = to > segment->last ? to : segment->last;
	window->calls += !segment->cpu;
	return &segment->call[segment->calls++];
}

void windows_take(struct html *html, const struct xaudit_read_call *call, struct track *track, uint64_t from,
	uint64_t to, bool loose)
{
	struct windows *windows = html->windows;

	for (uint32_t i = 0; i < windows->count; i++) {
		struct window *window = &windows->window[i];
		/* They are sorted by time. */
		if (window->from > to)
			break;
		if (from >= window->to || (to <= window->from && from < window->from) ||
			(window->track && window->track != track) || track->place == TRACKS_NONE)
			continue;
		struct segment *segment = segment_of(window, 2 * track->place, track, false);
		struct window_call *to_call = place_for(window, segment, from, to);
		if (!to_call)
			continue;
		*to_call = (struct window_call){ .from = from, .to = to, .id = call->id, .self = call->self,
			.cpu = call->cpu == XAUDIT_READ_UNKNOWN ? 0 : call->cpu + 1,
			.function = page_functions_number(&html->functions, call->function), .depth = call->depth,
			.how = call->how | (loose ? 128u : 0), .text = add_values(window, call),
			.request = call->request ? add_text(window, call->request) : 0 };
	}
}

void windows_run(struct windows *windows, struct track *track, uint64_t from, uint64_t to, bool known)
{
	for (uint32_t i = 0; i < windows->count; i++) {
		struct window *window = &windows->window[i];
		const struct track *only = window->track;
		if (from >= window->to || to <= window->from || track->place == TRACKS_NONE ||
			(only && (only->process != track->process || only->tid != track->tid)))
			continue;
		struct segment *segment = segment_of(window, 2 * track->place + 1, track, true);
		struct window_call *call = place_for(window, segment, from, to);
		if (call)
			*call = (struct window_call){ .from = from, .to = to, .how = known ? 1 : 2 };
	}
}

/* ---- blocks ---- */

static int by_begin(const void *x, const void *y)
{
	const struct window_call *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_track(const void *x, const void *y)
{
	const struct segment *a = x, *b = y;

	if (a->track != b->track)
		return a->track->place < b->track->place ? -1 : 1;
	return a->cpu - b->cpu;
}

enum { START, DURATION, DEPTH, FUNCTION, HOW, TEXT, REQUEST, CPU, SELF, CALL_COLUMNS };

static void write_segments(struct window *window, struct container *c)
{
	uint64_t (*row)[7] = memory_zeroed(window->segments + 1ul, sizeof(*row));

	for (uint32_t i = 0; i < window->segments; i++) {
		const struct segment *segment = &window->segment[i];
		uint64_t base = segment->calls && segment->call[0].from < segment->from ? segment->call[0].from :
											  segment->from;
		const uint64_t own[7] = { segment->track->place, segment->cpu, segment->from, segment->to, base,
			segment->calls, segment->cut };
		memcpy(row[i], own, sizeof(own));
	}
	container_rows(c, window->segments, 7, row[0]);
	free(row);
}

static void write_calls(struct window *window, struct container *c, bool cpu)
{
	uint32_t count = 0, at = 0, columns = cpu ? 3 : CALL_COLUMNS;
	uint64_t *row;

	for (uint32_t i = 0; i < window->segments; i++)
		count += window->segment[i].cpu == cpu ? window->segment[i].calls : 0;
	row = memory_zeroed(count + 1ul, columns * sizeof(*row));
	for (uint32_t i = 0; i < window->segments; i++) {
		const struct segment *segment = &window->segment[i];
		uint64_t last = segment->from;
		if (segment->cpu != cpu)
			continue;
		for (uint32_t k = 0; k < segment->calls; k++) {
			const struct window_call *call = &segment->call[k];
			uint64_t *to = row + (size_t)at++ * columns;
			last = !k && call->from < last ? call->from : last;
			to[START] = call->from - last;
			to[DURATION] = call->to - call->from;
			last = cpu ? call->to : call->from;
			if (cpu) {
				to[2] = call->how;
				continue;
			}
			to[DEPTH] = call->depth;
			to[FUNCTION] = call->function;
			to[HOW] = call->how;
			to[TEXT] = call->text;
			to[REQUEST] = call->request;
			to[CPU] = call->cpu;
			to[SELF] = call->self;
		}
	}
	container_rows(c, count, columns, row);
	free(row);
}

static void write_block(struct window *window, struct blocks *blocks, uint32_t number)
{
	struct container c;
	char name[24];

	if (window->segments)
		qsort(window->segment, window->segments, sizeof(*window->segment), by_track);
	for (uint32_t i = 0; i < window->segments; i++)
		qsort(window->segment[i].call, window->segment[i].calls, sizeof(struct window_call), by_begin);
	container_begin(&c);
	write_segments(window, &c);
	write_calls(window, &c, false);
	write_calls(window, &c, true);
	container_table(&c, window->size, 1);
	container_bytes(&c, window->texts);
	snprintf(name, sizeof(name), "w%u", number);
	blocks_container(blocks, name, &c);
}

void windows_write(struct windows *windows, struct blocks *blocks, FILE *head)
{
	static const char *const why[] = { "all", "around", "mark", "outlier", "slow" };

	fputs("\"windows\":[", head);
	for (uint32_t i = 0; i < windows->count; i++) {
		struct window *window = &windows->window[i];
		const struct pick *pick = window->pick;
		uint32_t place = window->track ? window->track->place : TRACKS_NONE;
		write_block(window, blocks, i);
		html_number(head, i ? ",\n{" : "{", "id", i);
		html_member(head, ",", "why", why[window->why]);
		html_member(head, ",", "text", window->text);
		html_number(head, ",", "from", window->from);
		html_number(head, ",", "to", window->to);
		html_number(head, ",", "track", place == TRACKS_NONE ? UINT64_MAX : place);
		html_number(head, ",", "function", pick ? pick->function : UINT64_MAX);
		html_number(head, ",", "time", pick ? pick->from : UINT64_MAX);
		html_number(head, ",", "duration", pick ? pick->to - pick->from : UINT64_MAX);
		html_number(head, ",", "calls", window->calls);
		html_number(head, ",", "segments", window->segments);
		fprintf(head, ",\"whole\":%s}", window->track || window->cut ? "false" : "true");
	}
	putc(']', head);
}

void windows_close(struct windows *windows)
{
	for (uint32_t i = 0; i < windows->count; i++) {
		struct window *window = &windows->window[i];
		for (uint32_t k = 0; k < window->segments; k++)
			free(window->segment[k].call);
		free(window->segment);
		free(window->of_track);
		free(window->texts);
		free(window->at);
		hash_free(&window->by_text);
	}
	free(windows->before);
	free(windows);
}
