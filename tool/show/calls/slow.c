/* SPDX-License-Identifier: MIT */
/* xaudit slow: the longest calls of a function, and what they did that others did not. */
#include "tool/show/calls/slow.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/slow_print.h"
#include "tool/show/term/srcline.h"
#include "tool/show/values.h"

/* ---- which functions the word names ---- */

/* If a function has the name as its own, those that have it as an alias are not meant (view_find()). */
enum named { NAMED_UNKNOWN, NAMED_NO, NAMED_ALIAS, NAMED_YES };

struct named_set {
	const char *word;
	uint8_t *named; /* enum named, by number */
	uint32_t room;
	bool own; /* some function is named by its own name */
};

static enum named is_named(struct named_set *set, const struct xaudit_read_function *function)
{
	if (function->number >= set->room) {
		uint32_t room = (function->number + 64) * 2;

		set->named = memory_resize(set->named, room, sizeof(*set->named));
		memset(set->named + set->room, NAMED_UNKNOWN, room - set->room);
		set->room = room;
	}
	uint8_t *named = &set->named[function->number];
	if (*named == NAMED_UNKNOWN)
		*named = view_names(set->word, function, false)	 ? NAMED_YES
			 : view_names(set->word, function, true) ? NAMED_ALIAS
								 : NAMED_NO;
	return (enum named) *named;
}

/* ---- the first pass ---- */

static void free_call(struct slow_call *call)
{
	free(call->values);
	free(call->request);
	hits_free(&call->hits);
}

/* Puts a call among the longest, in the order of their times; of equal ones that which came first is longer. */
static void keep(struct slow *slow, uint32_t trace, const struct xaudit_read_call *call, uint64_t time)
{
	uint32_t at = slow->calls;

	while (at && slow->call[at - 1].time < time)
		at--;
	if (at == slow->count)
		return;
	if (slow->calls < slow->count)
		slow->calls++;
	else
		free_call(&slow->call[slow->calls - 1]);
	memmove(&slow->call[at + 1], &slow->call[at], (slow->calls - 1 - at) * sizeof(*slow->call));
	slow->call[at] = (struct slow_call){
		.start = call->start, .time = time, .trace = trace, .process = call->process, .tid = call->tid,
		.cpu = call->cpu,
		.values = values_text(call),
		.stack = xaudit_read_stack(call->entered),
		.request = call->request ? memory_text(call->request, strlen(call->request)) : NULL,
	};
}

/* What was found so far is not meant. What was only counted is known of each function. */
static void forget(struct slow *slow)
{
	sample_free(&slow->times);
	slow->times = (struct sample){ 0 };
	slow->left.no_end = slow->left.points = slow->left.no_cpu = 0;
	while (slow->calls)
		free_call(&slow->call[--slow->calls]);
}

/* Returns how many calls of such functions were recorded, from where `recorded` is on. */
static uint64_t find_in(struct slow *slow, uint32_t trace, struct named_set *set, uint64_t recorded)
{
	struct view_options options = slow->options;
	struct xaudit_read_item item;

	options.values = !options.show.no_values;
	struct xaudit_read_calls *calls = view_begin(options.many.trace[trace], &options, false);
	while (view_next(calls, &item, &slow->left) == XAUDIT_READ_CALL) {
		const struct xaudit_read_call *call = item.call;

		enum named named = is_named(set, call->function);
		if (named == NAMED_YES && !set->own) {
			set->own = true;
			recorded = 0;
			forget(slow);
		}
		if (named == NAMED_NO || (named == NAMED_ALIAS && set->own))
			continue;
		recorded++;
		view_count_left(&slow->left, call);
		if (call->recursion || call->end == XAUDIT_READ_UNKNOWN || call->how == XAUDIT_READ_POINT)
			continue;
		uint64_t time = view_time(calls, call);
		sample_add(&slow->times, time);
		keep(slow, trace, call, time);
	}
	slow->probes |= xaudit_read_calls_sums(calls)->probes;
	view_end(&slow->options, trace, &slow->left);
	xaudit_read_calls_close(calls);
	/* The next trace has other numbers. */
	free(set->named);
	set->named = NULL;
	set->room = 0;
	return recorded;
}

static bool find(struct slow *slow)
{
	struct named_set set = { .word = slow->word };
	uint64_t recorded = 0;

	slow->call = memory_zeroed(slow->count, sizeof(*slow->call));
	for (uint32_t t = 0; t < slow->options.many.traces; t++)
		recorded = find_in(slow, t, &set, recorded);
	slow->number = view_find("slow", &slow->options, slow->word);
	if (slow->number == FUNCTIONS_NONE ||
		view_only_counted("slow", &slow->options, &slow->left, slow->number, recorded))
		return false;
	slow->function = view_function(&slow->options, slow->number);
	/* Those of other functions are no matter here. */
	slow->left.counted = view_counted_of(&slow->left, slow->number);
	sample_sort(&slow->times);
	if (slow->times.count)
		slow->median = sample_middle(&slow->times, SLOW_MIDDLE, &slow->low, &slow->high);
	return true;
}

/* ---- the second pass ---- */

/* Trees of the function's open calls. A call and those in it have the number of their tree, from 1 on, as a mark. */
struct open {
	struct cct tree;
	struct hits hits;
	bool used;
};

struct pass {
	struct slow *slow;
	uint32_t trace;
	uint32_t function; /* the number of the function in this trace */
	uint64_t to;
	struct slow_parts typical; /* of this trace, in ticks, by its numbers */
	struct xaudit_read_calls *calls;
	struct open *open;
	uint32_t opens;
};

static uint32_t mark_of(const struct xaudit_read_call *call)
{
	return call ? (uint32_t)(call->user[0] >> 32) : 0;
}

static void mark(struct xaudit_read_call *call, uint32_t number)
{
	call->user[0] = (uint64_t)number << 32;
}

static uint32_t take_tree(struct pass *pass)
{
	uint32_t i = 0;

	while (i < pass->opens && pass->open[i].used)
		i++;
	if (i == pass->opens) {
		pass->open = memory_resize(pass->open, ++pass->opens, sizeof(*pass->open));
		cct_open(&pass->open[i].tree, SLOW_NODES);
		pass->open[i].tree.nodes_only = true;
		pass->open[i].hits = (struct hits){ .most = SLOW_HITS };
	}
	pass->open[i].used = true;
	return i + 1;
}

static bool is_outermost(const struct pass *pass, const struct xaudit_read_call *call)
{
	return call->function->number == pass->function && !call->recursion;
}

static void enter(struct pass *pass, struct xaudit_read_call *call)
{
	uint32_t around = mark_of(call->parent);

	/* Calls in those that began in the options' time are wanted, later ones too; so the cursor gives too many. */
	if (is_outermost(pass, call) && !around) {
		mark(call, take_tree(pass));
		cct_enter_root(&pass->open[mark_of(call) - 1].tree, call);
	} else if (around) {
		mark(call, around);
		cct_enter(&pass->open[around - 1].tree, call);
	}
}

static struct slow_call *find_call(struct slow *slow, const struct xaudit_read_call *call, uint64_t time)
{
	for (uint32_t i = 0; i < slow->calls; i++) {
		struct slow_call *c = &slow->call[i];
		if (c->start == call->start && c->time == time && c->process == call->process &&
			c->tid == call->tid && !c->found)
			return c;
	}
	return NULL;
}

static void add_part(struct slow_parts *parts, uint32_t function, uint64_t calls, const struct cct_time *own)
{
	if (function >= parts->functions) {
		uint32_t functions = (function + 64) * 2;

		parts->part = memory_resize(parts->part, functions, sizeof(*parts->part));
		memset(parts->part + parts->functions, 0, (functions - parts->functions) * sizeof(*parts->part));
		parts->functions = functions;
	}
	parts->part[function].calls += calls;
	cct_add(&parts->part[function].own, own);
}

static void add_typical(struct pass *pass, const struct cct *tree)
{
	for (uint32_t i = 1; i < tree->nodes; i++) {
		const struct cct_node *node = &tree->node[i];
		if (probe_rows_has(node->function))
			continue;
		add_part(&pass->typical, node->function, node->calls, &node->own);
	}
	pass->slow->middle++;
}

/* One of the function's outermost calls is over, and has its tree. */
static void end_outermost(struct pass *pass, const struct xaudit_read_call *call, struct open *open)
{
	struct slow *slow = pass->slow;

	if (call->end != XAUDIT_READ_UNKNOWN && (!pass->to || call->start < pass->to)) {
		uint64_t time = view_time(pass->calls, call);
		if (time >= slow->low && time <= slow->high)
			add_typical(pass, &open->tree);
		struct slow_call *found = slow->calls && time >= slow->call[slow->calls - 1].time ?
						  find_call(slow, call, time) : NULL;
		if (found) {
			found->found = true;
			found->tree = open->tree;
			found->hits = open->hits;
			cct_open(&open->tree, SLOW_NODES);
			open->tree.nodes_only = true;
			open->hits = (struct hits){ .most = SLOW_HITS };
			open->used = false;
			return;
		}
	}
	cct_clear(&open->tree);
	hits_free(&open->hits);
	open->used = false;
}

static void hit(struct pass *pass, const struct xaudit_read_item *item)
{
	uint32_t number = mark_of(item->call);

	if (!number)
		return;
	cct_hit(&pass->open[number - 1].tree, item->call, view_probe(&pass->slow->options, item->probe));
	hits_take(&pass->open[number - 1].hits, item);
}

static void end(struct pass *pass, struct xaudit_read_call *call)
{
	uint32_t number = mark_of(call);

	/* A call that is traced at its entry only may not have begun, to the cursor. */
	if (!number && mark_of(call->parent)) {
		enter(pass, call);
		number = mark_of(call);
	}
	if (!number)
		return;
	cct_take(&pass->open[number - 1].tree, call);
	if (!mark_of(call->parent))
		end_outermost(pass, call, &pass->open[number - 1]);
}

/* Makes ns of what was found, and functions of the list of those of the trace. */
static void convert(struct pass *pass)
{
	struct slow *slow = pass->slow;
	const struct functions *functions = &slow->options.functions;

	for (uint32_t i = 0; i < slow->calls; i++) {
		struct cct *tree = &slow->call[i].tree;
		if (!slow->call[i].found || slow->call[i].trace != pass->trace)
			continue;
		cct_sum(tree);
		cct_convert(tree, pass->calls);
		for (uint32_t n = 1; n < tree->nodes; n++)
			if (!probe_rows_has(tree->node[n].function))
				tree->node[n].function =
					functions_number(functions, pass->trace, tree->node[n].function);
		cct_sort(tree, false);
	}
	for (uint32_t i = 0; i < pass->typical.functions; i++) {
		struct slow_part *part = &pass->typical.part[i];
		cct_to_ns(pass->calls, &part->own);
		if (part->calls || part->own.time)
			add_part(&slow->typical, functions_number(functions, pass->trace, i), part->calls, &part->own);
	}
	free(pass->typical.part);
}

static void read_trace(struct slow *slow, uint32_t trace)
{
	struct pass pass = { .slow = slow, .trace = trace };
	struct view_options options = slow->options;
	struct xaudit_read_item item;

	pass.function = functions_in(&options.functions, trace, slow->number);
	if (pass.function == FUNCTIONS_NONE)
		return;
	pass.to = view_to(options.many.trace[trace], &options);
	options.to = 0;
	options.probes = slow->probes;
	options.values = slow->probes && !options.show.no_values;
	pass.calls = view_begin(options.many.trace[trace], &options, true);
	for (int what; (what = view_next(pass.calls, &item, &slow->left)) != XAUDIT_READ_END;) {
		if (what == XAUDIT_READ_ENTER)
			enter(&pass, item.call);
		else if (what == XAUDIT_READ_CALL)
			end(&pass, item.call);
		else if (what == XAUDIT_READ_PROBE)
			hit(&pass, &item);
	}
	view_end(&slow->options, trace, &slow->left);
	for (uint32_t i = 0; i < pass.opens; i++) {
		cct_close(&pass.open[i].tree);
		hits_free(&pass.open[i].hits);
	}
	free(pass.open);
	convert(&pass);
	xaudit_read_calls_close(pass.calls);
}

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many calls (default: " OPTIONS_NUMBER(SLOW_COUNT) ")",
		.take = options_number, .most = SLOW_COUNT_MOST, .at = offsetof(struct slow, count),
		.allowed = "a number from 1 to " OPTIONS_NUMBER(SLOW_COUNT_MOST) },
	TREE_ROWS(struct slow),
	SHOW_FORMAT("text or json", "text (default) or json"),
	SRCLINE_ROW,
	SHOW_NO_VALUES,
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "slow",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit slow [OPTION]... FUNCTION [DIR]...\n"
		"Shows the longest calls of FUNCTION, each with its tree of calls and what\n"
		"differs from a typical one, from the traces in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"FUNCTION is a name, or NAME@LIBRARY; both may be patterns.\n",
};

static void slow_free(struct slow *slow)
{
	for (uint32_t i = 0; i < slow->calls; i++) {
		if (slow->call[i].found)
			cct_close(&slow->call[i].tree);
		free_call(&slow->call[i]);
	}
	free(slow->call);
	free(slow->typical.part);
	sample_free(&slow->times);
	view_left_free(&slow->left);
}

int slow_main(int argc, char **argv)
{
	struct slow slow = { .count = SLOW_COUNT, .tree = { .min = TREE_MIN } };
	int status = view_open(&slow.options, &syntax, argc, argv, &slow.word, true);

	if (status >= 0)
		return status;
	slow.cpu = many_have_sched(&slow.options.many);

	bool found = find(&slow);
	for (uint32_t t = 0; found && t < slow.options.many.traces; t++)
		read_trace(&slow, t);
	if (found && slow.options.show.json)
		slow_json(&slow);
	else if (found)
		slow_print(&slow);
	slow_free(&slow);
	return view_close(&slow.options, found ? TOOL_OK : TOOL_FAILED);
}
