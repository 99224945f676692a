/* SPDX-License-Identifier: MIT */
/*
 * Graphs of functions, in the languages of graphviz and of mermaid. Edges are a tree: below the root the callers, below
 * each of them its callees, with calls and total of the edge. Of callers of the one function that is asked for, both
 * are those of that function.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_GRAPH_EDGES_H
#define XAUDIT_TOOL_SHOW_CALLS_GRAPH_EDGES_H

#include "tool/show/calls/graph.h"

/* Fills in graph->edges, when the other trees are there, and before their times are made ns. */
void graph_make_edges(struct graph *graph);

/* A graph with a node per function, and an edge per caller and callee, in the language of graphviz or of mermaid. */
void graph_print_edges(const struct graph *graph, enum graph_format format);

#endif
