/* SPDX-License-Identifier: MIT */
/* Between tool/show/calls/graph*.c: what graph shows. One thread. */
#ifndef XAUDIT_TOOL_SHOW_CALLS_GRAPH_H
#define XAUDIT_TOOL_SHOW_CALLS_GRAPH_H

#include "tool/show/calls/tree.h"

enum graph_format { GRAPH_TEXT, GRAPH_DOT, GRAPH_MERMAID, GRAPH_JSON };

#define GRAPH_ABOVE_MOST 64 /* callers of callers that are followed */

struct graph {
	struct view_options *options;
	const struct show_colors *color;
	const struct tree_options *tree;
	struct xaudit_read_calls *calls; /* the cursor of the one trace; NULL: there are several, and all has ns */
	struct cct all; /* paths of the program, summed */
	struct cct edges; /* for languages of graphs: see graph_edges.h */
	struct node_values values; /* of the tree that is shown; no name: none are */
	struct view_left left;
	bool cpu;
	bool of_one; /* of a function, or a probe; else all that follows is not used */
	uint32_t number; /* in the list, or of view_probe() */
	/*
	 * Its node is the root's only child. Below: what its outermost calls called; above: who called it, the callers
	 * as children, whose calls and total are those of the function that came by way of them; for languages of
	 * graphs those of its outermost calls, as the others are below.
	 */
	struct cct below, above;
	uint32_t below_top, above_top;
	uint64_t whole; /* 100 %: the time of its outermost calls, or that of the program */
};

#endif
