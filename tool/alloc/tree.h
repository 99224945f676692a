/* SPDX-License-Identifier: MIT */
/*
 * Stacks, as a tree of frames: a node is a frame, called from that of its parent; node 0 is nobody's. So a stack is a
 * node, and accounts (model.h) have the numbers of nodes. Frames are named here, since the trace that they come from is
 * closed when its processes have ended. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_TREE_H
#define XAUDIT_TOOL_ALLOC_TREE_H

#include "tool/base/hash.h"

struct alloc_frame {
	char *name;    /* raw */
	char *library; /* path */
	char *place;   /* file and line, or empty */
};

struct alloc_node {
	uint32_t parent, frame;
	uint32_t depth; /* of node 0: 0 */
};

struct alloc_tree {
	struct alloc_frame *frame;
	struct alloc_node *node;
	uint32_t frames, nodes;
	struct hash by_name, by_parent;
};

void alloc_tree_open(struct alloc_tree *tree);
void alloc_tree_close(struct alloc_tree *tree);

/* The number of the frame with these texts, which are copied. */
uint32_t alloc_tree_frame(struct alloc_tree *tree, const char *name, const char *library, const char *place);

/* The node of that frame below the parent. */
uint32_t alloc_tree_node(struct alloc_tree *tree, uint32_t parent, uint32_t frame);

static inline const struct alloc_frame *alloc_tree_frame_of(const struct alloc_tree *tree, uint32_t node)
{
	return &tree->frame[tree->node[node].frame];
}

#endif
