/* SPDX-License-Identifier: MIT */
#include "tool/alloc/tree.h"

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
	alloc_tree_frame(tree, "", "", "");
	add_node(tree, &(struct alloc_node){ 0 });
}

void alloc_tree_close(struct alloc_tree *tree)
{
	for (uint32_t i = 0; i < tree->frames; i++) {
		free(tree->frame[i].name);
		free(tree->frame[i].library);
		free(tree->frame[i].place);
	}
	free(tree->frame);
	free(tree->node);
	hash_free(&tree->by_name);
	hash_free(&tree->by_parent);
}

static char *copy(const char *text)
{
	return memory_text(text, strlen(text));
}

uint32_t alloc_tree_frame(struct alloc_tree *tree, const char *name, const char *library, const char *place)
{
	uint32_t hash = hash_text(hash_text(hash_text(0, name), library), place);
	uint32_t found = HASH_FIND(i, &tree->by_name, hash,
		!strcmp(tree->frame[i].name, name) && !strcmp(tree->frame[i].library, library) &&
			!strcmp(tree->frame[i].place, place));

	if (found != HASH_NONE)
		return found;
	tree->frame = memory_grow(tree->frame, tree->frames, sizeof(*tree->frame));
	tree->frame[tree->frames] = (struct alloc_frame){ copy(name), copy(library), copy(place) };
	memory_hash(&tree->by_name, hash, tree->frames);
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
