/* SPDX-License-Identifier: MIT */
/*
 * The calls of each path of a tree (cct.h) by one of their values: an argument, a result. Calls without such a value
 * are in none of the groups. Values are told apart by their texts.
 *
 * First all calls are taken, then the groups are sorted once. Beyond a million groups all other values of a path are
 * one group. One thread. When memory runs out, the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_NODE_VALUES_H
#define XAUDIT_TOOL_SHOW_CALLS_NODE_VALUES_H

#include "tool/show/calls/cct.h"

#define NODE_VALUES_SHOWN 10 /* groups of a path, most; the others are added up */

struct node_value {
	uint32_t node;
	uint32_t text; /* number of the value; NODE_VALUES_OTHERS */
	uint64_t calls;
	struct cct_time own, all; /* as of a node */
};

struct node_values {
	const char *name; /* of the value */
	char **text;
	uint32_t texts;
	struct hash by_text;
	struct node_value *row;
	uint32_t rows;
	struct hash by_node; /* of a path and a value */
};

#define NODE_VALUES_OTHERS UINT32_MAX

/* Takes a call that is over, and was taken as one of this node's. name is set. */
void node_values_take(struct node_values *values, const struct xaudit_read_call *call, uint32_t node);

/* The same of what was recorded at a probe, which has no time. */
void node_values_hit(struct node_values *values, const struct xaudit_read_values *of, uint32_t node);

/* Has the groups of each node be of node to[node], which may be that of others, too; of none, where that is 0. */
void node_values_move(struct node_values *values, const uint32_t *to);

/* Adds those of another tree, which have ns, as these do; in: of cct_merge(). Makes ns: node_values_convert(). */
void node_values_merge(struct node_values *to, const struct node_values *from, const uint32_t *in);
void node_values_convert(struct node_values *values, const struct xaudit_read_calls *calls);

/* When all is there, in ns: sorts the groups of a node by time, calls and text. */
void node_values_sort(struct node_values *values);

/* The groups of a node; *count: how many. */
const struct node_value *node_values_of(const struct node_values *values, uint32_t node, uint32_t *count);

/* Adds up groups, as one of others. */
struct node_value node_values_add(const struct node_value *value, uint32_t count);

void node_values_free(struct node_values *values);

#endif
