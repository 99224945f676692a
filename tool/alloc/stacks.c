/* SPDX-License-Identifier: MIT */
#include "tool/alloc/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static uint32_t frame_of(
	struct alloc_stacks *stacks, struct alloc_tree *tree, const struct xaudit_read_frame *frame)
{
	uint32_t *known = memory_number(&stacks->frame, &stacks->frames, frame->number);

	if (!*known) {
		struct xaudit_read_symbol symbol;
		xaudit_read_frame_symbol(frame, &symbol);
		*known = 1 + alloc_tree_frame(tree, &(struct alloc_frame){
			.name = symbol.name ? symbol.name : "",
			.library = frame->object ? frame->object->path : "",
			.file = symbol.file ? symbol.file : "",
			.line = symbol.line,
			.is = frame->marks & XAUDIT_READ_FRAME_EXACT ? ALLOC_FRAME_SIGNAL : ALLOC_FRAME_CALLER,
			.offset = frame->offset,
			.start = symbol.start,
		});
	}
	return *known - 1;
}

uint32_t alloc_stacks_node(
	struct alloc_stacks *stacks, struct alloc_tree *tree, const struct xaudit_read_stack *stack)
{
	uint32_t *known = memory_number(&stacks->node, &stacks->nodes, stack->number), node = 0;

	if (*known)
		return *known;
	if (stack->end != XAUDIT_READ_STACK_BOTTOM)
		node = alloc_tree_node(tree, 0, alloc_tree_frame(tree, &(struct alloc_frame){
			.name = stack->end_text, .library = "", .file = "", .is = ALLOC_FRAME_END }));
	for (uint32_t i = stack->frames; i-- > 0;)
		node = alloc_tree_node(tree, node, frame_of(stacks, tree, stack->frame[i]));
	return *known = node;
}

void alloc_stacks_free(struct alloc_stacks *stacks)
{
	free(stacks->node);
	free(stacks->frame);
	*stacks = (struct alloc_stacks){ 0 };
}
