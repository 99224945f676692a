/* SPDX-License-Identifier: MIT */
/*
 * From backtraces of a process (tool/read/api/xaudit-read-frames.h) to nodes of the tree. Backtraces and their frames
 * have numbers in their trace, so each is looked at once in a process. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_STACKS_H
#define XAUDIT_TOOL_ALLOC_STACKS_H

#include "tool/alloc/tree.h"
#include "tool/read/api/xaudit-read.h"

/* Zeroed memory is an empty one. */
struct alloc_stacks {
	uint32_t *node; /* by number of the backtrace; 0: not looked at yet */
	uint32_t *frame; /* by number of the frame: + 1 */
	uint32_t nodes, frames;
};

/* The node of the innermost caller. */
uint32_t alloc_stacks_node(
	struct alloc_stacks *stacks, struct alloc_tree *tree, const struct xaudit_read_stack *stack);

void alloc_stacks_free(struct alloc_stacks *stacks);

#endif
