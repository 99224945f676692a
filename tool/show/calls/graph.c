/* SPDX-License-Identifier: MIT */
/* xaudit graph: who called whom, how often, and for how long. */
#define _GNU_SOURCE
#include "tool/show/calls/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/graph_edges.h"
#include "tool/show/term/srcline.h"

static void add(struct cct_node *to, const struct cct_node *from)
{
	to->calls += from->calls;
	to->total += from->total;
	cct_add(&to->own, &from->own);
	cct_add(&to->all, &from->all);
}

/*
 * Merges the trees below the function's outermost calls. Parents have lower numbers, so one walk is enough. in: gets
 * the number there of each path, or 0.
 */
static void make_below(struct graph *graph, uint32_t *in)
{
	const struct cct *all = &graph->all;

	cct_open(&graph->below, all->most);
	for (uint32_t i = 1; i < all->nodes; i++) {
		const struct cct_node *node = &all->node[i];

		if (!in[node->parent] && node->function != graph->number)
			continue;
		in[i] = cct_child(&graph->below, in[node->parent], node->function);
		add(&graph->below.node[in[i]], node);
	}
	cct_sort(&graph->below, false);
	graph->below_top = graph->below.node[CCT_ROOT].child;
}

/* in: NULL, or of outermost calls only. */
static void make_above(struct graph *graph, const uint32_t *in)
{
	const struct cct *all = &graph->all;

	cct_open(&graph->above, all->most);
	for (uint32_t i = 1; i < all->nodes; i++) {
		const struct cct_node *node = &all->node[i];
		uint32_t at = CCT_ROOT, by = i;

		if (node->function != graph->number || (in && in[node->parent]))
			continue;
		for (unsigned n = 0; by && n <= GRAPH_ABOVE_MOST; n++, by = all->node[by].parent) {
			at = cct_child(&graph->above, at, all->node[by].function);
			if (!at)
				break; /* there are too many paths: the outer ones are left out */
			graph->above.node[at].calls += node->calls;
			graph->above.node[at].total += node->total;
		}
	}
	cct_sort(&graph->above, true);
	graph->above_top = graph->above.node[CCT_ROOT].child;
}

static void make_function(struct graph *graph, bool outermost)
{
	uint32_t *in = memory_zeroed(graph->all.nodes, sizeof(*in));

	make_below(graph, in);
	if (graph->values.name)
		node_values_move(&graph->values, in);
	make_above(graph, outermost ? in : NULL);
	free(in);
}

/* ---- text ---- */

static struct tree_view view_of(const struct graph *graph, const struct cct *cct)
{
	return (struct tree_view){
		.options = graph->options,
		.cct = cct,
		.color = graph->color,
		.whole = graph->whole,
		.min = graph->tree->min,
		.depth = graph->tree->depth,
		.cpu = graph->cpu,
		.values = graph->values.name ? &graph->values : NULL,
	};
}

/* Is this caller shown? Its calls may have no time: then by their number. */
static bool is_shown(const struct graph *graph, const struct cct_node *node)
{
	const struct cct_node *top = &graph->above.node[graph->above_top];

	if (graph->tree->depth && node->depth > graph->tree->depth)
		return false;
	return top->total ? !view_is_less(node->total, top->total, graph->tree->min) || !graph->tree->min :
			    !view_is_less(node->calls, top->calls, graph->tree->min);
}

/* Callers, the outermost first: the order of the tree, backwards. Returns how many were left out. */
static uint64_t print_above(const struct graph *graph, const struct tree_view *view)
{
	const struct cct *above = &graph->above;
	uint32_t *row = memory_zeroed(above->nodes, sizeof(*row)), rows = 0;
	uint64_t left = 0;
	bool skip = false;

	for (uint32_t i = graph->above_top; (i = cct_next(above, graph->above_top, i, skip));) {
		skip = !is_shown(graph, &above->node[i]);
		if (skip)
			left++;
		else
			row[rows++] = i;
	}
	while (rows-- && !show_output_broken()) {
		const struct cct_node *node = &above->node[row[rows]];

		tree_print_numbers(view, node->total, NULL, NULL, node->calls);
		tree_print_indent(node->depth - 1);
		fputs("/ ", stdout);
		view_print_number(graph->options, node->function, graph->color);
		putchar('\n');
	}
	free(row);
	return left;
}

static void say_rest(const struct graph *graph, uint64_t left)
{
	char buf[SHOW_TIME_SIZE];

	term_rows(false);
	if (graph->of_one || left || graph->all.folded || view_has_left(graph->options, &graph->left))
		putchar('\n');
	if (graph->of_one && !probe_rows_has(graph->number))
		printf("100 %% is %s of the time of all calls\n",
			view_share(buf, graph->whole, graph->all.node[CCT_ROOT].all.time));
	tree_print_left(left);
	if (graph->all.folded)
		printf("%" PRIu64 " calls are in the self time of those around them: there are more than %" PRIu32
		       " paths\n",
			graph->all.folded, graph->all.most);
	view_say_left(graph->options, &graph->left);
}

static void print_function(const struct graph *graph)
{
	struct tree_view view = view_of(graph, &graph->below);
	const struct cct_function *sums = cct_function(&graph->all, graph->number);
	uint64_t left;

	tree_print_heads(&view);
	left = print_above(graph, &view);
	if (probe_rows_has(graph->number))
		tree_print_count(&view, graph->below.node[graph->below_top].calls);
	else
		tree_print_numbers(
			&view, sums->total, &graph->below.node[graph->below_top].all, &sums->own.time, sums->calls);
	printf("%s", graph->color->head);
	view_print_number(graph->options, graph->number, graph->color);
	putchar('\n');
	tree_print_values(&view, graph->below_top, 1);
	left += tree_print_below(&view, graph->below_top, 1);
	say_rest(graph, left);
}

static void print_program(const struct graph *graph)
{
	struct tree_view view = view_of(graph, &graph->all);

	tree_print_heads(&view);
	say_rest(graph, tree_print_below(&view, CCT_ROOT, 0));
}

/* ---- JSON ---- */

static void json_above(const struct graph *graph)
{
	const struct cct *above = &graph->above;
	bool skip = false, some = false;

	printf("\"callers\":[");
	for (uint32_t i = graph->above_top; (i = cct_next(above, graph->above_top, i, skip));) {
		const struct cct_node *node = &above->node[i];

		skip = !is_shown(graph, node);
		if (skip)
			continue;
		printf("%s{\"depth\":%" PRIu32 ",", some ? ",\n" : "\n", node->depth - 1);
		view_json_number(graph->options, node->function);
		printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 "}", node->calls, node->total);
		some = true;
	}
	printf("\n]");
}

static void print_json(const struct graph *graph)
{
	const struct cct *tree = graph->of_one ? &graph->below : &graph->all;
	struct tree_view view = view_of(graph, tree);

	printf("{\"time_ns\":%" PRIu64 ",", graph->all.node[CCT_ROOT].all.time);
	if (graph->of_one) {
		const struct cct_function *sums = cct_function(&graph->all, graph->number);
		view_json_number(graph->options, graph->number);
		if (probe_rows_has(graph->number)) {
			printf(",\"events\":%" PRIu64 ",", graph->below.node[graph->below_top].calls);
		} else {
			printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",", sums->calls, sums->total);
			tree_json_time("self", &sums->own, graph->cpu);
			putchar(',');
		}
		json_above(graph);
		putchar(',');
	}
	printf("\"tree\":");
	tree_json(&view, graph->of_one ? graph->below_top : CCT_ROOT);
	printf(",\"folded\":%" PRIu64 ",", graph->all.folded);
	view_json_left(graph->options, &graph->left);
	puts("}");
}

/* ---- the command ---- */

struct own {
	struct view_options options;
	struct tree_options tree;
	const char *by_value;
};

static const struct options_row rows[] = {
	TREE_ROWS(struct own),
	{ 0, "by-value", "NAME", "calls of each path by the value of this name, if their\n"
		"values were recorded", .take = options_text, .at = offsetof(struct own, by_value) },
	SHOW_FORMAT("text, dot, mermaid or json", "text (default), dot (for graphviz), mermaid, or json"),
	SRCLINE_ROW,
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "graph",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit graph [OPTION]... [FUNCTION] [DIR]...\n"
		"Shows who called FUNCTION, and what it called, with times and calls, from the\n"
		"traces in DIR (default: " TOOL_FOLDER "); without FUNCTION, the tree of calls of\n"
		"the program.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"FUNCTION is a name, or NAME@LIBRARY; both may be patterns.\n",
};

static void take_probe(
	struct graph *graph, struct cct *cct, struct node_values *values, const struct xaudit_read_item *item)
{
	if (!view_takes_probe(graph->options, item))
		return;
	uint32_t node = cct_hit(cct, item->call, view_probe(graph->options, item->probe));
	if (node && values->name)
		node_values_hit(values, item->values, node);
}

/* What was read of one trace, to whose nodes the values belong. */
static void read_trace(struct graph *graph, uint32_t number, struct cct *cct, struct node_values *values)
{
	struct xaudit_read_trace *trace = graph->options->many.trace[number];
	struct xaudit_read_item item;

	graph->calls = view_begin(trace, graph->options, false);
	cct_open(cct, CCT_MOST);
	cct->from = view_from(trace, graph->options);
	for (int what; (what = view_next(graph->calls, &item, &graph->left)) != XAUDIT_READ_END;) {
		if (what == XAUDIT_READ_PROBE) {
			take_probe(graph, cct, values, &item);
			continue;
		}
		view_count_left(&graph->left, item.call);
		uint64_t folded = cct->folded;
		uint32_t node = cct_take(cct, item.call);
		/* One that is folded is no call of this path. */
		if (values->name && cct->folded == folded)
			node_values_take(values, item.call, node);
	}
	view_end(graph->options, number, &graph->left);
	cct_sum(cct);
}

/* The same of several: their ticks differ, so they are added up in ns. */
static void add_trace(struct graph *graph, uint32_t number)
{
	struct cct cct;
	struct node_values values = { .name = graph->values.name };

	read_trace(graph, number, &cct, &values);
	cct_convert(&cct, graph->calls);
	node_values_convert(&values, graph->calls);
	xaudit_read_calls_close(graph->calls);
	graph->calls = NULL;

	const struct functions_of *of = &graph->options->functions.of[number];
	uint32_t *in = memory_zeroed(cct.nodes, sizeof(*in));
	cct_merge(&graph->all, &cct, of->number, of->known, in);
	node_values_merge(&graph->values, &values, in);
	free(in);
	cct_close(&cct);
	node_values_free(&values);
}

static void read_calls(struct graph *graph)
{
	uint32_t traces = graph->options->many.traces;

	if (traces == 1) {
		read_trace(graph, 0, &graph->all, &graph->values);
		return;
	}
	cct_open(&graph->all, CCT_MOST);
	for (uint32_t t = 0; t < traces; t++)
		add_trace(graph, t);
}

/* All sums are there. */
static void convert(struct graph *graph)
{
	if (graph->calls) {
		cct_convert(&graph->all, graph->calls);
		cct_convert(&graph->edges, graph->calls);
		cct_convert(&graph->below, graph->calls);
		cct_convert(&graph->above, graph->calls);
		node_values_convert(&graph->values, graph->calls);
	}
	node_values_sort(&graph->values);
	graph->whole = graph->of_one ? graph->below.node[graph->below_top].all.time :
					 graph->all.node[CCT_ROOT].all.time;
}

static void print(struct graph *graph, enum graph_format format)
{
	if (graph->of_one)
		make_function(graph, format == GRAPH_DOT || format == GRAPH_MERMAID);
	else
		cct_sort(&graph->all, false);
	if (format == GRAPH_DOT || format == GRAPH_MERMAID)
		graph_make_edges(graph);
	convert(graph);
	if (format != GRAPH_JSON)
		view_meet(graph->options);
	if (format == GRAPH_JSON)
		print_json(graph);
	else if (format != GRAPH_TEXT)
		graph_print_edges(graph, format);
	else if (graph->of_one)
		print_function(graph);
	else
		print_program(graph);
	cct_close(&graph->edges);
	cct_close(&graph->below);
	cct_close(&graph->above);
}

/* Returns whether there is something to show of such a function; else one line on stderr says why not. */
static bool find(struct graph *graph, const char *word)
{
	graph->number = view_find("graph", graph->options, word);
	if (graph->number == FUNCTIONS_NONE)
		return false;
	graph->of_one = true;
	return !view_only_counted("graph", graph->options, &graph->left, graph->number,
		cct_function(&graph->all, graph->number)->calls);
}

/* Else one line on stderr says so. */
static bool has_values(const struct graph *graph)
{
	if (graph->values.name && !graph->values.rows)
		tool_error("graph", "no call%s with a value '%s' is in the trace",
			graph->options->probe.rows ? ", and no probe," : "", graph->values.name);
	return !graph->values.name || graph->values.rows;
}

int graph_main(int argc, char **argv)
{
	struct own own = { .tree = { .min = TREE_MIN } };
	struct graph graph = { .tree = &own.tree, .options = &own.options };
	const char *word = NULL;
	int status = view_open(&own.options, &syntax, argc, argv, &word, false);

	if (status >= 0)
		return status;
	enum graph_format format = (enum graph_format)own.options.show.json;
	if (own.by_value && (format == GRAPH_DOT || format == GRAPH_MERMAID)) {
		tool_error("graph", "--by-value goes with text and json; `xaudit graph --help` lists what there is");
		return view_close(&own.options, TOOL_USAGE);
	}
	graph.values.name = own.by_value;
	own.options.values = own.by_value;
	own.options.probes = true;
	graph.color = own.options.color;
	graph.cpu = many_have_sched(&own.options.many);
	read_calls(&graph);
	bool good = has_values(&graph) && (!word || find(&graph, word));
	if (good)
		print(&graph, format);
	view_left_free(&graph.left);
	xaudit_read_calls_close(graph.calls);
	cct_close(&graph.all);
	node_values_free(&graph.values);
	return view_close(&own.options, good ? TOOL_OK : TOOL_FAILED);
}
