/* SPDX-License-Identifier: MIT */
/* Graphs of functions, in the languages of graphviz and of mermaid. */
#ifndef XAUDIT_TOOL_SHOW_CALLS_GRAPH_EDGES_H
#define XAUDIT_TOOL_SHOW_CALLS_GRAPH_EDGES_H

#include "tool/show/calls/graph.h"

/* A graph with a node per function, and an edge per caller and callee, in the language of graphviz or of mermaid. */
void graph_print_edges(const struct graph *graph, enum graph_format format);

#endif
