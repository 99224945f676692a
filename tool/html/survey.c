/* SPDX-License-Identifier: MIT */
#include "tool/html/survey.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/html/text.h"

#define OUTLIER_FACTOR 10 /* as `xaudit outliers` has it */
#define OUTLIERS       12
#define SLOWEST	       12
#define AROUND	       12

/* ---- before the pass ---- */

static int by_calls(const void *x, const void *y)
{
	const struct function_row *a = *(struct function_row *const *)x, *b = *(struct function_row *const *)y;

	if (a->row->calls != b->row->calls)
		return a->row->calls > b->row->calls ? -1 : 1;
	return a < b ? -1 : 1;
}

/* The functions with the most calls. */
static void choose_rates(struct survey *survey, struct page_functions *functions)
{
	struct function_row **order = memory_zeroed(functions->shown + 1ul, sizeof(*order));

	for (uint32_t i = 0; i < functions->shown; i++)
		order[i] = &functions->row[i];
	qsort(order, functions->shown, sizeof(*order), by_calls);
	for (uint32_t i = 0; i < functions->shown && i < RATES && order[i]->row->calls > order[i]->row->counted; i++) {
		order[i]->rate = (int32_t)survey->rates;
		survey->rate_function[survey->rates++] = (uint32_t)(order[i] - functions->row);
	}
	free(order);
	for (uint32_t i = 0; i <= survey->rates; i++)
		counts_open(&survey->rate[i], RATE_COLUMNS);
}

static inline void take_pick(struct picks *picks, uint64_t key, const struct pick *pick)
{
	if (__builtin_expect(!picks_wants(picks, key), 1))
		return;
	struct pick own = *pick;
	own.key = key;
	picks_add(picks, &own);
}

static void find_outliers(struct survey *survey, const struct html *html)
{
	for (uint32_t i = 0; i < html->functions.shown; i++) {
		const struct function_row *own = &html->functions.row[i];
		const struct xaudit_read_row *row = own->row;
		uint64_t from = html_after(html->start, row->max_start);

		if (row->timed && row->max > own->p99 && row->max / OUTLIER_FACTOR >= own->p99)
			take_pick(&survey->outliers, row->max - own->p99,
				&(struct pick){ .from = from, .to = from + row->max, .function = i });
	}
}

/* ---- the pass ---- */

/* The longest call of its function, as the profile has it. */
static void take_longest(struct function_row *own, const struct xaudit_read_call *call, const struct track *track)
{
	const struct xaudit_read_row *row = own->row;

	if (row->max_start == call->start && row->max_tid == call->tid && call->end != XAUDIT_READ_UNKNOWN &&
		row->max_pid == xaudit_read_process_info(call->process)->pid && !own->longest)
		own->longest = track;
}

static void take_call(struct html *html, struct survey *survey, const struct xaudit_read_item *item)
{
	struct xaudit_read_call *call = item->call;
	uint32_t number = page_functions_number(&html->functions, call->function);
	struct function_row *own = &html->functions.row[number];
	struct track *track = page_tracks_of(&html->tracks, call);
	uint64_t from, to;

	html_span(html, item, &from, &to);
	survey->calls++;
	survey->from = from < survey->from ? from : survey->from;
	survey->to = to > survey->to ? to : survey->to;
	track_count(track, call->depth, from, to);
	counts_add(&survey->when, from);
	if (own->rate >= 0)
		counts_add(&survey->rate[own->rate + 1], from);
	if (__builtin_expect(own->row && own->row->max_start == call->start, 0))
		take_longest(own, call, track);
	take_pick(&survey->slowest, call->self, &(struct pick){ 0, from, to, call->self, track, number, 0 });
	if (__builtin_expect(own->around, 0))
		take_pick(&survey->around, to - from, &(struct pick){ 0, from, to, call->self, track, number, 0 });
	if (__builtin_expect(call->request != NULL, 0))
		lanes_request(&survey->lanes, call, track, from, to);
}

/* What the page shows goes from the first to the last of what was asked for: a trace may have no calls at all. */
static void take_event(struct html *html, struct survey *survey, const struct xaudit_read_item *item)
{
	const struct view_options *only = &html->options;
	uint64_t after = html_after(html->start, item->time);

	lanes_event(&survey->lanes, html, item);
	if (after < only->from || (only->to && after >= only->to) || (only->tid && item->tid != only->tid))
		return;
	survey->from = after < survey->from ? after : survey->from;
	survey->to = after > survey->to ? after : survey->to;
}

static void go_through(struct html *html, struct survey *survey)
{
	struct xaudit_read_calls *calls = html_pass(html, html->trace, true, html->requests);
	struct xaudit_read_item item;
	int what;

	while ((what = html_next(html, calls, &item)) != XAUDIT_READ_END)
		if (__builtin_expect(what == XAUDIT_READ_CALL, 1))
			take_call(html, survey, &item);
		else if (what == XAUDIT_READ_CUSTOM || what == XAUDIT_READ_PROBE)
			take_event(html, survey, &item);
	survey->sums = *xaudit_read_calls_sums(calls);
	xaudit_read_calls_close(calls);
}

void survey_make(struct html *html)
{
	struct survey *survey = html->survey = memory_zeroed(1, sizeof(*survey));

	survey->from = UINT64_MAX;
	survey->outliers.most = OUTLIERS;
	survey->slowest.most = SLOWEST;
	survey->around.most = AROUND;
	counts_open(&survey->when, SURVEY_COLUMNS);
	choose_rates(survey, &html->functions);
	find_outliers(survey, html);
	html->tracks.trace = html->trace;
	go_through(html, survey);
	survey->from = survey->from == UINT64_MAX ? 0 : survey->from;
	survey->events = survey->sums.customs + survey->sums.probes + 2 * survey->calls - survey->sums.points -
			 survey->sums.unfinished;
	for (uint32_t i = 0; i < survey->outliers.count; i++) {
		struct pick *pick = &survey->outliers.pick[i];
		pick->track = html->functions.row[pick->function].longest;
	}
}

/* ---- rates ---- */

void survey_write_rates(struct html *html, FILE *head)
{
	struct survey *survey = html->survey;
	struct container c;
	uint32_t shift = 0, columns = 0, series = survey->rates + 1;
	struct counts *all = &survey->rate[0];

	/* Of all calls there are finer counts already. */
	all->shift = survey->when.shift + __builtin_ctz(SURVEY_COLUMNS / RATE_COLUMNS);
	for (uint32_t i = 0; i < SURVEY_COLUMNS; i++)
		all->count[i / (SURVEY_COLUMNS / RATE_COLUMNS)] += survey->when.count[i];
	for (uint32_t i = 0; i < series; i++)
		shift = survey->rate[i].shift > shift ? survey->rate[i].shift : shift;
	for (uint32_t i = 0; i < series; i++)
		counts_fold(&survey->rate[i], shift);
	uint32_t first = (uint32_t)(survey->from >> shift);
	for (uint32_t i = first; i < RATE_COLUMNS; i++)
		columns = survey->rate[0].count[i] ? i + 1 - first : columns;
	uint64_t *number = memory_zeroed(columns + 1ul, sizeof(*number));
	container_begin(&c);
	container_table(&c, columns, series);
	for (uint32_t i = 0; i < series; i++) {
		for (uint32_t k = 0; k < columns; k++)
			number[k] = survey->rate[i].count[first + k];
		container_column(&c, number, sizeof(*number));
	}
	blocks_container(&html->blocks, "rates", &c);
	free(number);
	fprintf(head, "\"rates\":{\"from\":%" PRIu64 ",\"width\":%" PRIu64 ",\"columns\":%" PRIu32 ",\"functions\":[",
		(uint64_t)first << shift, (uint64_t)1 << shift, columns);
	for (uint32_t i = 0; i < survey->rates; i++)
		fprintf(head, "%s%" PRIu32, i ? "," : "", survey->rate_function[i]);
	fputs("]}", head);
}

void survey_close(struct survey *survey)
{
	counts_close(&survey->when);
	for (uint32_t i = 0; i <= survey->rates; i++)
		counts_close(&survey->rate[i]);
	lanes_close(&survey->lanes);
	free(survey);
}
