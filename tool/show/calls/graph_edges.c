/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/graph_edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/text.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/show/calls/graph.h"

/* What is printed: graph->edges, as they shall look. */
struct edges {
	const struct graph *graph;
	enum graph_format format;
	bool *node; /* by number of the function: it has an edge that is shown */
	/* By number of the probe, less PROBE_ROWS_FIRST: has it such an edge, and how often did threads come there? */
	bool *probe;
	uint64_t *events;
};

static void add_edge(struct cct *edges, uint32_t from, uint32_t to, const struct cct_node *sums)
{
	uint32_t caller = cct_child(edges, CCT_ROOT, from);
	struct cct_node *edge = &edges->node[cct_child(edges, caller, to)];

	edge->calls += sums->calls;
	edge->total += sums->total;
}

/* Of a tree of calls. */
static void add_tree(struct cct *edges, const struct cct *cct)
{
	for (uint32_t i = 1; i < cct->nodes; i++)
		if (cct->node[i].parent)
			add_edge(edges, cct->node[cct->node[i].parent].function, cct->node[i].function, &cct->node[i]);
}

/* Is the same edge nearer to the function on this path? Its calls were counted there. */
static bool is_again(const struct cct *above, uint32_t node)
{
	uint32_t caller = above->node[node].function, callee = above->node[above->node[node].parent].function;

	for (uint32_t i = above->node[node].parent; above->node[i].parent; i = above->node[i].parent)
		if (above->node[i].function == caller && above->node[above->node[i].parent].function == callee)
			return true;
	return false;
}

/* Of the callers. */
static void add_callers(struct cct *edges, const struct cct *above)
{
	for (uint32_t i = 1; i < above->nodes; i++) {
		const struct cct_node *node = &above->node[i];

		if (node->parent && !is_again(above, i))
			add_edge(edges, node->function, above->node[node->parent].function, node);
	}
}

void graph_make_edges(struct graph *graph)
{
	cct_open(&graph->edges, UINT32_MAX);
	if (graph->of_one) {
		add_callers(&graph->edges, &graph->above);
		add_tree(&graph->edges, &graph->below);
	} else {
		add_tree(&graph->edges, &graph->all);
	}
}

static bool is_shown(const struct edges *edges, const struct cct_node *edge)
{
	const struct graph *graph = edges->graph;
	uint64_t from = cct_function(&graph->all, graph->edges.node[edge->parent].function)->total;
	uint64_t to = cct_function(&graph->all, edge->function)->total;

	if (probe_rows_has(edge->function))
		return !view_is_less(from, graph->whole, graph->tree->min);
	/* Calls that have no time of their own, as recursive ones, are between functions that are shown. */
	if (!edge->total)
		return !view_is_less(from, graph->whole, graph->tree->min) &&
		       !view_is_less(to, graph->whole, graph->tree->min);
	return !view_is_less(edge->total, graph->whole, graph->tree->min);
}

/* ---- text ---- */

/* A text within quotes. Nothing in it ends them, or is taken for anything but letters. */
static void print_text(enum graph_format format, const char *text)
{
	const char *shown;
	size_t length;

	while (*text) {
		text += text_next(text, &shown, &length);
		if (length > 1 || !strchr(format == GRAPH_DOT ? "\"\\" : "\"\\#&<>;[]{}()|`$", *shown))
			fwrite(shown, 1, length, stdout);
		else if (format == GRAPH_DOT)
			printf("\\%c", *shown);
		else
			printf("#%d;", *shown);
	}
}

static void print_function(const struct edges *edges, uint32_t number)
{
	const struct xaudit_read_function *function = view_function(edges->graph->options, number);
	const struct cct_function *sums = cct_function(&edges->graph->all, number);
	const char *line = edges->format == GRAPH_DOT ? "\\n" : "<br/>";
	char total[SHOW_TIME_SIZE], self[SHOW_TIME_SIZE], share[SHOW_TIME_SIZE];

	printf("    f%" PRIu32 "%s", number, edges->format == GRAPH_DOT ? " [label=\"" : "[\"");
	print_text(edges->format, names_shown(function->name));
	fputs(line, stdout);
	print_text(edges->format, tool_base(function->object->path));
	view_share(share, sums->total, edges->graph->all.node[CCT_ROOT].all.time);
	printf("%s%s (%s), self %s, %" PRIu64 " call%s\"]", line, show_time(total, sums->total), share,
		show_time(self, sums->own.time), sums->calls, show_s(sums->calls));
	puts(edges->format == GRAPH_DOT ? ";" : "");
}

static void print_probe(const struct edges *edges, uint32_t row)
{
	const struct xaudit_read_probe *probe = edges->graph->options->probe.row[row];
	const char *line = edges->format == GRAPH_DOT ? "\\n" : "<br/>";

	printf("    p%" PRIu32 "%s", row, edges->format == GRAPH_DOT ? " [shape=ellipse,label=\"probe " : "([\"probe ");
	print_text(edges->format, probe->name);
	fputs(line, stdout);
	print_text(edges->format, tool_base(probe->object->path));
	printf("%s%" PRIu64 " event%s\"%s\n", line, edges->events[row], show_s(edges->events[row]),
		edges->format == GRAPH_DOT ? "];" : "])");
}

/* An edge to a probe, or of the callers of one: it has no time. */
static void print_edge_of_probe(const struct edges *edges, uint32_t from, uint32_t to, uint64_t events)
{
	char letter = probe_rows_has(to) ? 'p' : 'f';
	uint32_t number = probe_rows_has(to) ? to - PROBE_ROWS_FIRST : to;

	if (edges->format == GRAPH_DOT)
		printf("    f%" PRIu32 " -> %c%" PRIu32 " [label=\"%" PRIu64 " event%s\"];\n", from, letter, number,
			events, show_s(events));
	else
		printf("    f%" PRIu32 " -->|\"%" PRIu64 " event%s\"| %c%" PRIu32 "\n", from, events, show_s(events),
			letter, number);
}

static void print_edge(const struct edges *edges, const struct cct_node *edge)
{
	uint32_t from = edges->graph->edges.node[edge->parent].function;
	char buf[SHOW_TIME_SIZE];

	if (probe_rows_has(edge->function) || (edges->graph->of_one && probe_rows_has(edges->graph->number))) {
		print_edge_of_probe(edges, from, edge->function, edge->calls);
		return;
	}
	show_time(buf, edge->total);
	if (edges->format == GRAPH_DOT)
		printf("    f%" PRIu32 " -> f%" PRIu32 " [label=\"%s\\n%" PRIu64 " call%s\"];\n", from, edge->function,
			buf, edge->calls, show_s(edge->calls));
	else
		printf("    f%" PRIu32 " -->|\"%s, %" PRIu64 " call%s\"| f%" PRIu32 "\n", from, buf, edge->calls,
			show_s(edge->calls), edge->function);
}

/* Whether a function, or a probe, has an edge that is shown. */
static bool *mark_of(struct edges *edges, uint32_t number)
{
	return probe_rows_has(number) ? &edges->probe[number - PROBE_ROWS_FIRST] : &edges->node[number];
}

static void print(struct edges *edges)
{
	const struct graph *graph = edges->graph;
	const struct cct *cct = &graph->edges;
	uint32_t functions = graph->options->functions.functions, probes = graph->options->probe.rows;

	edges->probe = memory_zeroed(probes + 1, sizeof(*edges->probe));
	edges->events = memory_zeroed(probes + 1, sizeof(*edges->events));
	for (uint32_t i = 1; i < graph->all.nodes && probes; i++) {
		const struct cct_node *node = &graph->all.node[i];
		if (!probe_rows_has(node->function))
			continue;
		edges->events[node->function - PROBE_ROWS_FIRST] += node->calls;
		/* In no call, it has no edge. */
		edges->probe[node->function - PROBE_ROWS_FIRST] |= !graph->of_one && !node->parent;
	}
	edges->node = memory_zeroed(functions + 1, sizeof(*edges->node));
	for (uint32_t i = 1; i < cct->nodes; i++) {
		const struct cct_node *edge = &cct->node[i];
		if (edge->parent && is_shown(edges, edge))
			*mark_of(edges, edge->function) = edges->node[cct->node[edge->parent].function] = true;
	}
	if (graph->of_one)
		*mark_of(edges, graph->number) = true;
	puts(edges->format == GRAPH_DOT ? "digraph xaudit {\n    node [shape=box];" : "flowchart TD");
	for (uint32_t i = 0; i < functions && !show_output_broken(); i++) {
		const struct cct_function *sums = cct_function(&graph->all, i);
		/* A function of the program may have no caller, and call nothing. */
		if (edges->node[i] || (!graph->of_one && sums->total &&
						   !view_is_less(sums->total, graph->whole, graph->tree->min)))
			print_function(edges, i);
	}
	for (uint32_t i = 0; i < probes && !show_output_broken(); i++)
		if (edges->probe[i])
			print_probe(edges, i);
	for (uint32_t i = 1; i < cct->nodes && !show_output_broken(); i++)
		if (cct->node[i].parent && is_shown(edges, &cct->node[i]))
			print_edge(edges, &cct->node[i]);
	if (edges->format == GRAPH_DOT)
		puts("}");
	free(edges->node);
	free(edges->probe);
	free(edges->events);
}

void graph_print_edges(const struct graph *graph, enum graph_format format)
{
	struct edges edges = { .graph = graph, .format = format };

	print(&edges);
}
