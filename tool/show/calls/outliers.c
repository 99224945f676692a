/* SPDX-License-Identifier: MIT */
/* xaudit outliers: functions one call of which took much longer than nearly all the others, and when that was. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/hits.h"
#include "tool/show/calls/view.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/srcline.h"
#include "tool/show/term/term.h"
#include "tool/show/values.h"

#define FACTOR 10
#define COUNT  20 /* rows of text */
#define HITS   4  /* times that threads came to probes, for each */
#define HITS_JSON 20

struct own {
	struct view_options options;
	uint32_t count;	 /* 0: not given */
	uint32_t factor; /* how much longer than p99 the longest call is, at least */
	/* What was counted: */
	struct xaudit_read_profile *profile;
	struct outlier *outlier;
	uint32_t outliers;
};

struct outlier {
	const struct xaudit_read_row *row;
	uint64_t median, p99;
	bool found;   /* the longest call, in the pass for the rest: */
	char *values; /* of values_text() */
	const struct xaudit_read_stack *stack; /* that it was called by; NULL: not known */
	char *request; /* NULL: none */
	/* When threads came to probes in it; and the number of the one that it is in. See find_hits(). */
	struct hits hits;
	uint32_t around;
	bool open;
};

/* Falling by how much the longest call took beyond p99; equal ones in an order that does not depend on the trace. */
static int by_excess(const void *x, const void *y)
{
	const struct outlier *a = x, *b = y;
	uint64_t left = a->row->max - a->p99, right = b->row->max - b->p99;
	int order;

	if (left != right)
		return left > right ? -1 : 1;
	order = strcmp(a->row->name, b->row->name);
	return order ? order : strcmp(a->row->library, b->row->library);
}

static void find_outliers(struct own *own)
{
	uint32_t rows = xaudit_read_profile_info(own->profile)->rows;

	own->outlier = memory_zeroed(rows + 1, sizeof(*own->outlier));
	for (uint32_t i = 0; i < rows; i++) {
		const struct xaudit_read_row *row = xaudit_read_profile_row(own->profile, i);
		struct outlier outlier = { .row = row };

		if (!row->timed)
			continue;
		outlier.p99 = xaudit_read_profile_percentile(own->profile, row, 99);
		if (row->max <= outlier.p99 || row->max / own->factor < outlier.p99)
			continue;
		outlier.median = xaudit_read_profile_percentile(own->profile, row, 50);
		own->outlier[own->outliers++] = outlier;
	}
	qsort(own->outlier, own->outliers, sizeof(*own->outlier), by_excess);
}

static bool is_longest(const struct outlier *outlier, uint32_t trace, const struct xaudit_read_call *call)
{
	const struct xaudit_read_row *row = outlier->row;

	return row->max_trace == trace && row->max_start == call->start && row->max_tid == call->tid &&
	       !outlier->found &&
	       xaudit_read_process_info(call->process)->pid == row->max_pid &&
	       !strcmp(call->function->name, row->name) && !strcmp(call->function->object->path, row->library);
}

static bool has_more(const struct xaudit_read_call *call)
{
	return call->entered || call->ended || call->request;
}

static void keep(struct outlier *outlier, const struct xaudit_read_call *call)
{
	outlier->found = true;
	outlier->values = values_text(call);
	outlier->stack = xaudit_read_stack(call->entered);
	outlier->request = call->request ? memory_text(call->request, strlen(call->request)) : NULL;
}

/*
 * Finds values and requests of the longest calls of the first `most` functions, if any call may have some: in one more
 * pass.
 */
static void find_values(struct own *own, uint32_t most)
{
	struct view_options options = own->options;
	struct view_left left = { 0 };
	struct xaudit_read_item item;

	most = most < own->outliers ? most : own->outliers;
	const struct xaudit_read_profile_info *info = xaudit_read_profile_info(own->profile);
	if (options.show.no_values || (!info->valued && !info->customs) || !most)
		return;
	options.values = true;
	for (uint32_t t = 0; t < options.many.traces; t++) {
		struct xaudit_read_calls *calls = view_begin(options.many.trace[t], &options, false);
		while (view_next(calls, &item, &left) == XAUDIT_READ_CALL)
			for (uint32_t i = 0; has_more(item.call) && i < most; i++)
				if (is_longest(&own->outlier[i], t, item.call))
					keep(&own->outlier[i], item.call);
		xaudit_read_calls_close(calls);
	}
	view_left_free(&left);
}

/*
 * A call that begins, and may be the longest one of its function as far as its beginning tells, has the number of that
 * from 1 on as user[0]; other calls have that of the call around them. If another call began at the same moment, its
 * end tells: then what was found in it is forgotten.
 */
static void begin_longest(struct own *own, uint32_t most, uint32_t trace, struct xaudit_read_call *call)
{
	uint32_t around = call->parent ? (uint32_t)call->parent->user[0] : 0;

	call->user[0] = around;
	for (uint32_t i = 0; i < most; i++) {
		struct outlier *outlier = &own->outlier[i];
		if (outlier->open || !is_longest(outlier, trace, call))
			continue;
		outlier->open = true;
		outlier->around = around;
		call->user[0] = i + 1;
		return;
	}
}

/* Times of one call may be rounded differently where processes have different clocks. */
static bool took(const struct xaudit_read_calls *calls, const struct xaudit_read_call *call, uint64_t time)
{
	uint64_t took = view_time(calls, call);

	return call->end != XAUDIT_READ_UNKNOWN && took <= time + 1 && took + 1 >= time;
}

static void end_longest(struct own *own, const struct xaudit_read_calls *calls, const struct xaudit_read_call *call)
{
	uint32_t number = (uint32_t)call->user[0];
	struct outlier *outlier = number ? &own->outlier[number - 1] : NULL;

	if (!outlier || !outlier->open || number == (call->parent ? (uint32_t)call->parent->user[0] : 0))
		return;
	outlier->open = false;
	outlier->found = took(calls, call, outlier->row->max);
	if (!outlier->found)
		hits_free(&outlier->hits);
}

/* When threads came to probes in the longest calls of the first `most` functions: in one more pass, if they did. */
static void find_hits(struct own *own, uint32_t most)
{
	struct view_options options = own->options;
	struct view_left left = { 0 };
	struct xaudit_read_item item;

	most = most < own->outliers ? most : own->outliers;
	if (!xaudit_read_profile_info(own->profile)->probes || !most)
		return;
	options.probes = true;
	options.values = !options.show.no_values;
	for (uint32_t i = 0; i < most; i++) {
		own->outlier[i].found = false;
		own->outlier[i].hits.most = options.show.json ? HITS_JSON : HITS;
	}
	for (uint32_t t = 0; t < options.many.traces; t++) {
		struct xaudit_read_calls *calls = view_begin(options.many.trace[t], &options, true);
		for (int what; (what = view_next(calls, &item, &left)) != XAUDIT_READ_END;) {
			if (what == XAUDIT_READ_ENTER)
				begin_longest(own, most, t, item.call);
			else if (what == XAUDIT_READ_CALL)
				end_longest(own, calls, item.call);
			for (uint32_t i = what == XAUDIT_READ_PROBE && item.call ? (uint32_t)item.call->user[0] : 0; i;
				i = own->outlier[i - 1].around)
				hits_take(&own->outlier[i - 1].hits, &item);
		}
		xaudit_read_calls_close(calls);
	}
	view_left_free(&left);
}

/* ---- text ---- */

/* Would the columns leave no room for names? Then there are none of medians and calls. */
static bool is_narrow(void)
{
	return term_columns() && term_columns() < 87 + FIT_KEEPS;
}

/* How long after the start of its trace the longest call began. */
static uint64_t after_start(const struct own *own, const struct xaudit_read_row *row)
{
	return view_after_start(own->options.many.trace[row->max_trace], row->max_start);
}

static void print_row(const struct own *own, const struct outlier *outlier)
{
	const struct xaudit_read_row *row = outlier->row;
	const struct show_colors *color = own->options.color;
	uint64_t after = after_start(own, row);
	char ratio[SHOW_TIME_SIZE] = "-";

	view_print_time(true, row->max);
	fputs("  ", stdout);
	view_print_time(true, outlier->p99);
	if (!is_narrow()) {
		fputs("  ", stdout);
		view_print_time(true, outlier->median);
	}
	if (outlier->p99)
		snprintf(ratio, sizeof(ratio), "%.0f", (double)row->max / (double)outlier->p99);
	printf("  %8s", ratio);
	if (!is_narrow())
		printf("  %10" PRIu64, row->calls);
	printf("  %5" PRIu64 ".%09u  %7" PRIu32 "  ", after / 1000000000, (unsigned)(after % 1000000000), row->max_tid);
	view_print_call(row->name, row->library, outlier->values, color);
	if (outlier->request) {
		fputs(" of request ", stdout);
		term_text(stdout, outlier->request);
	}
	fputs(srcline_wanted() ? color->dim : "", stdout);
	srcline_print_named(stdout, row->library, row->name);
	fputs(srcline_wanted() ? color->off : "", stdout);
	if (own->options.many.traces > 1) {
		printf(" %sin process %" PRIu32, color->dim, row->max_pid);
		view_print_folder(&own->options, row->max_trace);
		fputs(color->off, stdout);
	}
	putchar('\n');
	frames_lines(stdout, outlier->stack, "              called by ", "\n");
	hits_lines(&outlier->hits, row->max_start, "              ", color);
}

static void print_table(const struct own *own)
{
	uint32_t most = own->count ? own->count : COUNT;

	bool narrow = is_narrow();

	for (uint32_t i = 0; i < own->outliers && i < most; i++)
		names_meet(own->outlier[i].row->name);
	printf("%s%11s  %11s%s  %8s%s  %15s  %7s  %s%s\n", own->options.color->head, "Max", "P99",
		narrow ? "" : "       Median", "Max/P99", narrow ? "" : "       Calls", "After start, s", "Thread",
		"Function", own->options.color->off);
	printf("===========  ===========%s  ========%s  ===============  =======  ====================\n",
		narrow ? "" : "  ===========", narrow ? "" : "  ==========");
	for (uint32_t i = 0; i < own->outliers && i < most && !show_output_broken(); i++)
		print_row(own, &own->outlier[i]);
	term_rows(false);
	if (own->outliers > most)
		printf("\n%" PRIu32 " more function%s such a call: see -n\n", own->outliers - most,
			own->outliers - most == 1 ? " has" : "s have");
	if (!own->outliers)
		printf("\nNo function has a call that took %" PRIu32 " times as long as 99 of 100 others.\n",
			own->factor);
	show_counted(xaudit_read_profile_info(own->profile)->counted);
	for (uint32_t t = 0; t < own->options.many.traces; t++)
		show_say_coarse_trace(own->options.many.trace[t], "");
}

/* ---- JSON ---- */

static void print_json(const struct own *own)
{
	printf("{\"factor\":%" PRIu32 ",\"outliers\":[", own->factor);
	for (uint32_t i = 0; i < own->outliers && (!own->count || i < own->count) && !show_output_broken(); i++) {
		const struct outlier *outlier = &own->outlier[i];
		const struct xaudit_read_row *row = outlier->row;

		printf("%s\n{", i ? "," : "");
		view_json_name(row->name, row->library);
		srcline_json_named(stdout, row->library, row->name);
		printf(",\"calls\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64
		       ",\"start_ns\":%" PRIu64 ",\"after_start_ns\":%" PRIu64,
			row->calls, outlier->median, outlier->p99, row->max, row->max_start, after_start(own, row));
		view_json_folder(&own->options, row->max_trace);
		printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, row->max_pid, row->max_tid);
		if (outlier->values) {
			printf(",\"values\":");
			json_string(stdout, outlier->values);
		}
		if (outlier->stack) {
			printf(",\"backtrace\":");
			frames_json(stdout, outlier->stack, NULL);
		}
		if (outlier->request) {
			printf(",\"request\":");
			json_string(stdout, outlier->request);
		}
		hits_json(&outlier->hits, row->max_start);
		putchar('}');
	}
	printf("\n],\"counted\":%" PRIu64 "}\n", xaudit_read_profile_info(own->profile)->counted);
}

/* ---- the command ---- */

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many functions (default: " OPTIONS_NUMBER(COUNT) "; in JSON all)",
		.take = options_number, .most = UINT32_MAX, .at = offsetof(struct own, count),
		.allowed = "a number from 1 up" },
	{ 0, "factor", "N",
		"those whose longest call took N times as long as 99 of\n"
		"100 others (default: " OPTIONS_NUMBER(FACTOR) ")",
		.take = options_number, .most = UINT32_MAX, .at = offsetof(struct own, factor),
		.allowed = "a number from 1 up" },
	SHOW_FORMAT("table or json", "table (default) or json"),
	SRCLINE_ROW,
	SHOW_NO_VALUES,
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "outliers",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit outliers [OPTION]... [DIR]...\n"
		"Shows functions whose longest call took much longer than nearly all others, and\n"
		"when that was, from the traces in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"`xaudit slow FUNCTION` tells what made such a call slow.\n",
};

int outliers_main(int argc, char **argv)
{
	struct own own = { .factor = FACTOR };
	int status = view_open(&own.options, &syntax, argc, argv, NULL, false);

	if (status >= 0)
		return status;
	for (uint32_t t = 0; t < own.options.many.traces; t++)
		srcline_objects(own.options.many.trace[t]);
	own.profile = view_profile(&own.options);
	find_outliers(&own);
	uint32_t most = own.count ? own.count : own.options.show.json ? UINT32_MAX : COUNT;
	find_values(&own, most);
	find_hits(&own, most);
	if (own.options.show.json)
		print_json(&own);
	else
		print_table(&own);
	for (uint32_t i = 0; i < own.outliers; i++) {
		free(own.outlier[i].values);
		free(own.outlier[i].request);
		hits_free(&own.outlier[i].hits);
	}
	free(own.outlier);
	xaudit_read_profile_close(own.profile);
	return view_close(&own.options, TOOL_OK);
}
