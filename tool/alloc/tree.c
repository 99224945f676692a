/* SPDX-License-Identifier: MIT */
#include "tool/alloc/tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static uint32_t add_node(struct alloc_tree *tree, const struct alloc_node *node)
{
	tree->node = memory_grow(tree->node, tree->nodes, sizeof(*tree->node));
	tree->node[tree->nodes] = *node;
	return tree->nodes++;
}

void alloc_tree_open(struct alloc_tree *tree)
{
	*tree = (struct alloc_tree){ 0 };
	alloc_tree_frame(tree, &(struct alloc_frame){ .name = "", .library = "", .file = "" });
	add_node(tree, &(struct alloc_node){ 0 });
}

void alloc_tree_close(struct alloc_tree *tree)
{
	for (uint32_t i = 0; i < tree->frames; i++) {
		free((char *)tree->frame[i].name);
		free((char *)tree->frame[i].library);
		free((char *)tree->frame[i].file);
	}
	free(tree->frame);
	free(tree->node);
	hash_free(&tree->by_place);
	hash_free(&tree->by_parent);
}

static const char *copy(const char *text)
{
	return memory_text(text, strlen(text));
}

static bool is_same(const struct alloc_frame *a, const struct alloc_frame *b)
{
	return a->offset == b->offset && a->start == b->start && a->is == b->is && a->line == b->line &&
	       !strcmp(a->name, b->name) && !strcmp(a->library, b->library) && !strcmp(a->file, b->file);
}

uint32_t alloc_tree_frame(struct alloc_tree *tree, const struct alloc_frame *frame)
{
	uint32_t hash = hash_key(frame->offset, hash_text(hash_text(frame->is, frame->name), frame->library));
	uint32_t found = HASH_FIND(i, &tree->by_place, hash, is_same(&tree->frame[i], frame));

	if (found != HASH_NONE)
		return found;
	tree->frame = memory_grow(tree->frame, tree->frames, sizeof(*tree->frame));
	struct alloc_frame *to = &tree->frame[tree->frames];
	*to = *frame;
	to->name = copy(frame->name);
	to->library = copy(frame->library);
	to->file = copy(frame->file);
	memory_hash(&tree->by_place, hash, tree->frames);
	return tree->frames++;
}

uint32_t alloc_tree_node(struct alloc_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t hash = hash_key(parent, frame);
	uint32_t found = HASH_FIND(i, &tree->by_parent, hash,
		tree->node[i].parent == parent && tree->node[i].frame == frame);

	if (found != HASH_NONE)
		return found;
	found = add_node(tree, &(struct alloc_node){ parent, frame, tree->node[parent].depth + 1 });
	memory_hash(&tree->by_parent, hash, found);
	return found;
}
