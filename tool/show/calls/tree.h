/* SPDX-License-Identifier: MIT */
/* Writes trees of calls (cct.h) as rows with columns, and as JSON. For graph and slow. One thread. */
#ifndef XAUDIT_TOOL_SHOW_CALLS_TREE_H
#define XAUDIT_TOOL_SHOW_CALLS_TREE_H

#include "tool/show/calls/view.h"
#include "tool/show/calls/cct.h"
#include "tool/show/calls/node_values.h"

struct tree_view {
	const struct view_options *options; /* with the functions */
	const struct cct *cct; /* summed and sorted */
	const struct show_colors *color;
	uint64_t whole; /* the time that is 100 % */
	uint32_t min;	/* paths with less than that share of it are left out; millionths */
	uint32_t depth; /* so are those with so many calls around them, or more; 0: none are */
	bool cpu;	/* switches were recorded: with a column of the time on a processor */
	const struct node_values *values; /* sorted: with rows for those of each path; NULL: without */
};

/* Options of the commands that show trees, in a struct that has a struct tree_options as `tree`. */
struct tree_options {
	uint32_t min;
	uint32_t depth;
};
#define TREE_MIN 5000 /* 0.5 % */
#define TREE_ROWS(type)                                                                                \
	{ 0, "min", "SHARE", "leave out what has less of the time (default: 0.5%)",                    \
		.take = view_take_share, .at = offsetof(type, tree.min),                              \
		.allowed = "a share such as 0.5%" },                                                   \
		{ 'D', "depth", "N", "only calls with less than N calls around them",                  \
			.take = options_number, .most = UINT32_MAX, .at = offsetof(type, tree.depth),  \
			.allowed = "a number from 1 up" }

void tree_print_heads(const struct tree_view *view);

/* The numbers of a row, before the function. Without a time: "-". self NULL: "-". */
void tree_print_numbers(
	const struct tree_view *view, uint64_t time, const struct cct_time *all, const uint64_t *self, uint64_t calls);

/* The same of a probe, which has no time. */
void tree_print_count(const struct tree_view *view, uint64_t count);

/* Writes the rows of the values of a node's calls, so many levels deep. */
void tree_print_values(const struct tree_view *view, uint32_t node, uint32_t levels);

/* Blanks for so many levels, but not for more than fit on a line: then the number of those that are left out. */
void tree_print_indent(uint32_t levels);

/* Writes the rows below the node, each with `levels` more than its depth below it. Returns how many were left out. */
uint64_t tree_print_below(const struct tree_view *view, uint32_t top, uint32_t levels);

/* A line about what was left out, if anything was. */
void tree_print_left(uint64_t paths);

/* As a list of objects, parents first, with their depths, of the node and all below it; of the root, all below it. */
void tree_json(const struct tree_view *view, uint32_t top);

/* "self_ns":1,"cpu_ns":1,"waiting_ns":0, or null where not known. name: "self" */
void tree_json_time(const char *name, const struct cct_time *time, bool cpu);

#endif
