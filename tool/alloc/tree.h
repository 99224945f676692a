/* SPDX-License-Identifier: MIT */
/*
 * Stacks, as a tree of frames: a node is a frame, called from that of its parent; node 0 is nobody's. So a stack is a
 * node, and accounts (model.h) have the numbers of nodes. Frames are told by texts, since the trace that they come from
 * is closed when its processes have ended, and equal ones are one: of whatever chunks, processes and traces.
 * One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_TREE_H
#define XAUDIT_TOOL_ALLOC_TREE_H

#include "tool/base/hash.h"

enum alloc_frame_is {
	ALLOC_FRAME_CALLER, /* a place in the code, behind a call */
	ALLOC_FRAME_SIGNAL, /* a place in the code, where a signal came in */
	ALLOC_FRAME_TRACED, /* a function whose call is recorded */
	ALLOC_FRAME_END,    /* no frame: why there are no more, as `name` says */
};

struct alloc_frame {
	const char *name;    /* raw; empty: not known */
	const char *library; /* path; empty: not known */
	const char *file;    /* source; empty: not known */
	uint32_t line;
	uint32_t is;	 /* enum alloc_frame_is */
	uint64_t offset; /* of the place in the library, as it was linked; without a library, its address */
	uint64_t start;	 /* where the function begins */
};

struct alloc_node {
	uint32_t parent, frame;
	uint32_t depth; /* of node 0: 0 */
};

struct alloc_tree {
	struct alloc_frame *frame;
	struct alloc_node *node;
	uint32_t frames, nodes;
	struct hash by_place, by_parent;
};

void alloc_tree_open(struct alloc_tree *tree);
void alloc_tree_close(struct alloc_tree *tree);

/* The number of the frame that equals this, whose texts are copied. */
uint32_t alloc_tree_frame(struct alloc_tree *tree, const struct alloc_frame *frame);

/* The node of that frame below the parent. */
uint32_t alloc_tree_node(struct alloc_tree *tree, uint32_t parent, uint32_t frame);

static inline const struct alloc_frame *alloc_tree_frame_of(const struct alloc_tree *tree, uint32_t node)
{
	return &tree->frame[tree->node[node].frame];
}

#endif
