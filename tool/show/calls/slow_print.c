/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/slow_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/json.h"
#include "tool/base/memory.h"
#include "tool/show/calls/slow.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/frames.h"
#include "tool/show/term/names.h"
#include "tool/show/term/term.h"

#define DIFFERENCES_MOST 10 /* rows of text */

/* What differs in one function, from a typical call. */
struct slow_difference {
	uint32_t function;
	int64_t self, waiting; /* ns more, or less */
	bool waited; /* `waiting` is known */
	struct slow_part here;
	double typical_self, typical_waiting, typical_calls;
};

/* ---- what differs ---- */

static int by_self(const void *x, const void *y)
{
	const struct slow_difference *a = x, *b = y;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static double waiting_of(const struct cct_time *time)
{
	return (double)(time->timed - time->cpu);
}

static int64_t rounded(double n)
{
	return (int64_t)(n < 0 ? n - 0.5 : n + 0.5);
}

/* The differences of a call, the largest first; to be freed. */
static struct slow_difference *differences_of(const struct slow *slow, const struct slow_call *call, uint32_t *count)
{
	uint32_t functions = slow->options.functions.functions, n = 0;
	struct slow_difference *all = memory_zeroed(functions, sizeof(*all));
	double middle = slow->middle ? (double)slow->middle : 1;

	for (uint32_t i = 1; i < call->tree.nodes; i++) {
		const struct cct_node *node = &call->tree.node[i];
		if (probe_rows_has(node->function))
			continue;
		struct slow_part *here = &all[node->function].here;
		here->calls += node->calls;
		cct_add(&here->own, &node->own);
	}
	for (uint32_t i = 0; i < functions; i++) {
		struct slow_difference d = all[i];
		const struct slow_part none = { 0 }, *typical =
			i < slow->typical.functions ? &slow->typical.part[i] : &none;

		if (!d.here.calls && !typical->calls)
			continue;
		d.function = i;
		d.typical_self = (double)typical->own.time / middle;
		d.typical_waiting = waiting_of(&typical->own) / middle;
		d.typical_calls = (double)typical->calls / middle;
		d.self = rounded((double)d.here.own.time - d.typical_self);
		d.waiting = rounded(waiting_of(&d.here.own) - d.typical_waiting);
		d.waited = slow->cpu && d.here.own.timed == d.here.own.time &&
			   typical->own.timed == typical->own.time;
		all[n++] = d;
	}
	qsort(all, n, sizeof(*all), by_self);
	*count = n;
	return all;
}

/* ---- text ---- */

static void print_signed(int64_t ns)
{
	char buf[SHOW_TIME_SIZE], text[SHOW_TIME_SIZE + 1];

	snprintf(text, sizeof(text), "%c%s", ns < 0 ? '-' : '+', show_time_column(buf, (uint64_t)(ns < 0 ? -ns : ns)));
	printf("%12s", text);
}

/* A mean: often a whole number. */
static void print_mean(double n)
{
	if ((double)rounded(n) == n)
		printf("%10" PRId64, rounded(n));
	else
		printf("%10.2f", n);
}

/* Is the difference worth a row? */
static bool is_more(const struct slow *slow, const struct slow_call *call, const struct slow_difference *d)
{
	uint64_t more = call->time > slow->median ? call->time - slow->median : 0;

	return d->self > 0 && !view_is_less((uint64_t)d->self, more, slow->tree.min);
}

/* Would the columns leave no room for names? Then there are none of calls. */
static bool is_narrow(const struct slow *slow)
{
	return term_columns() && term_columns() < (slow->cpu ? 78 : 64) + FIT_KEEPS;
}

static void print_difference_heads(const struct slow *slow)
{
	const struct show_colors *color = slow->options.color;

	printf("%s%12s", color->head, "Difference");
	if (slow->cpu)
		printf("  %12s", "of Waiting");
	printf("  %11s  %11s", "Self", "Typical");
	if (!is_narrow(slow))
		printf("  %10s  %10s", "Calls", "Typical");
	printf("  %s%s\n============", "Function", color->off);
	if (slow->cpu)
		printf("  ============");
	printf("  ===========  ===========%s  ====================\n",
		is_narrow(slow) ? "" : "  ==========  ==========");
}

static void print_differences(const struct slow *slow, const struct slow_call *call)
{
	uint32_t count;
	struct slow_difference *d = differences_of(slow, call, &count);

	if (count && is_more(slow, call, d)) {
		term_rows(true);
		print_difference_heads(slow);
	} else {
		printf("No function took more time than in a typical call.\n");
	}
	for (uint32_t i = 0; i < count && i < DIFFERENCES_MOST && is_more(slow, call, &d[i]); i++) {
		print_signed(d[i].self);
		if (slow->cpu) {
			fputs("  ", stdout);
			if (d[i].waited)
				print_signed(d[i].waiting);
			else
				printf("%12s", "-");
		}
		fputs("  ", stdout);
		view_print_time(true, d[i].here.own.time);
		fputs("  ", stdout);
		view_print_time(true, (uint64_t)rounded(d[i].typical_self));
		if (!is_narrow(slow)) {
			printf("  %10" PRIu64 "  ", d[i].here.calls);
			print_mean(d[i].typical_calls);
		}
		fputs("  ", stdout);
		view_print_function(view_function(&slow->options, d[i].function), slow->options.color);
		putchar('\n');
	}
	free(d);
	putchar('\n');
	term_rows(false);
}

static uint64_t after_start(const struct slow *slow, const struct slow_call *call)
{
	return view_after_start(slow->options.many.trace[call->trace], call->start);
}

static void print_call(const struct slow *slow, uint32_t number)
{
	const struct slow_call *call = &slow->call[number];
	const struct show_colors *color = slow->options.color;
	uint64_t after = after_start(slow, call);
	char buf[SHOW_TIME_SIZE];

	printf("\n%s%" PRIu32 ". %s%s", color->head, number + 1, show_time(buf, call->time), color->off);
	if (slow->median)
		printf(", %.1f times the median", (double)call->time / (double)slow->median);
	if (call->values) {
		fputs("\n   ", stdout);
		names_print_bare(stdout, slow->function->name);
		fputs(call->values, stdout);
	}
	if (call->request) {
		fputs("\n   request ", stdout);
		term_text(stdout, call->request);
	}
	printf("\n   thread %" PRIu32 " of process %" PRIu32, call->tid, xaudit_read_process_info(call->process)->pid);
	view_print_folder(&slow->options, call->trace);
	printf("\n   began at %" PRIu64 ".%09u s", call->start / 1000000000, (unsigned)(call->start % 1000000000));
	printf(", %" PRIu64 ".%09u s after the start", after / 1000000000, (unsigned)(after % 1000000000));
	if (call->cpu != XAUDIT_READ_UNKNOWN && call->cpu <= call->time) {
		printf("\n   on CPU %s", show_time(buf, call->cpu));
		printf(", waiting %s", show_time(buf, call->time - call->cpu));
	}
	putchar('\n');
	frames_lines(stdout, call->stack, "   called by ", "\n");
	putchar('\n');
	if (!call->found) {
		printf("It was overwritten while the trace was read.\n");
		return;
	}
	if (slow->times.count > 1)
		print_differences(slow, call);

	struct tree_view view = {
		.options = &slow->options,
		.cct = &call->tree,
		.color = color,
		.whole = call->time,
		.min = slow->tree.min,
		.depth = slow->tree.depth,
		.cpu = slow->cpu,
	};
	term_rows(true);
	tree_print_heads(&view);
	uint64_t left = tree_print_below(&view, CCT_ROOT, 0);
	term_rows(false);
	tree_print_left(left);
	if (call->tree.folded)
		printf("%" PRIu64 " calls are in the self time of those around them: there are more than %u paths\n",
			call->tree.folded, SLOW_NODES);
	hits_table(&call->hits, call->start, color);
}

void slow_print(const struct slow *slow)
{
	char buf[SHOW_TIME_SIZE];

	view_meet(&slow->options);
	term_rows(false);
	view_print_function(slow->function, slow->options.color);
	printf("\n%" PRIu64 " call%s", slow->times.count, show_s(slow->times.count));
	if (slow->times.count)
		printf(", median %s", show_time(buf, slow->median));
	if (slow->times.count > 1 && slow->middle == 1)
		printf("\nA typical call is the one of median time.");
	else if (slow->times.count > 1)
		printf("\nA typical call is the average of the %" PRIu64 " calls around the median.", slow->middle);
	putchar('\n');
	for (uint32_t i = 0; i < slow->calls && !show_output_broken(); i++)
		print_call(slow, i);
	if (view_has_left(&slow->options, &slow->left))
		putchar('\n');
	view_say_left(&slow->options, &slow->left);
}

/* ---- JSON ---- */

static void json_differences(const struct slow *slow, const struct slow_call *call)
{
	uint32_t count;
	struct slow_difference *d = differences_of(slow, call, &count);

	printf("\"differences\":[");
	for (uint32_t i = 0; i < count && !show_output_broken(); i++) {
		printf("%s\n{", i ? "," : "");
		view_json_function(view_function(&slow->options, d[i].function));
		printf(",\"difference_ns\":%" PRId64 ",\"waiting_difference_ns\":", d[i].self);
		if (d[i].waited)
			printf("%" PRId64, d[i].waiting);
		else
			printf("null");
		printf(",\"self_ns\":%" PRIu64 ",\"typical_self_ns\":%" PRId64 ",\"calls\":%" PRIu64
		       ",\"typical_calls\":%.2f}",
			d[i].here.own.time, rounded(d[i].typical_self), d[i].here.calls, d[i].typical_calls);
	}
	printf("\n],");
	free(d);
}

static void json_call(const struct slow *slow, const struct slow_call *call)
{
	struct tree_view view = {
		.options = &slow->options,
		.cct = &call->tree,
		.whole = call->time,
		.min = slow->tree.min,
		.depth = slow->tree.depth,
		.cpu = slow->cpu,
	};

	printf("{\"time_ns\":%" PRIu64 ",\"start_ns\":%" PRIu64 ",\"after_start_ns\":%" PRIu64, call->time, call->start,
		after_start(slow, call));
	view_json_folder(&slow->options, call->trace);
	printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, xaudit_read_process_info(call->process)->pid, call->tid);
	if (call->cpu != XAUDIT_READ_UNKNOWN && call->cpu <= call->time)
		printf(",\"cpu_ns\":%" PRIu64 ",\"waiting_ns\":%" PRIu64 ",", call->cpu, call->time - call->cpu);
	else
		printf(",\"cpu_ns\":null,\"waiting_ns\":null,");
	if (call->values) {
		printf("\"values\":");
		json_string(stdout, call->values);
		putchar(',');
	}
	if (call->stack) {
		printf("\"backtrace\":");
		frames_json(stdout, call->stack, NULL);
		putchar(',');
	}
	if (call->request) {
		printf("\"request\":");
		json_string(stdout, call->request);
		putchar(',');
	}
	if (!call->found) {
		printf("\"differences\":null,\"tree\":null,\"folded\":0}");
		return;
	}
	json_differences(slow, call);
	printf("\"tree\":");
	tree_json(&view, CCT_ROOT);
	printf(",\"folded\":%" PRIu64, call->tree.folded);
	hits_json(&call->hits, call->start);
	putchar('}');
}

void slow_json(const struct slow *slow)
{
	putchar('{');
	view_json_function(slow->function);
	printf(",\"calls\":%" PRIu64 ",\"median_ns\":", slow->times.count);
	if (slow->times.count)
		printf("%" PRIu64, slow->median);
	else
		printf("null");
	printf(",\"typical_calls\":%" PRIu64 ",\"slow\":[", slow->middle);
	for (uint32_t i = 0; i < slow->calls && !show_output_broken(); i++) {
		printf("%s\n", i ? "," : "");
		json_call(slow, &slow->call[i]);
	}
	printf("\n],");
	view_json_left(&slow->options, &slow->left);
	puts("}");
}
