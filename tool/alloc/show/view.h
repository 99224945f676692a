/* SPDX-License-Identifier: MIT */
/* What all ways have in common in which `xaudit alloc` shows a book: which stacks, and by what. One thread. */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_VIEW_H
#define XAUDIT_TOOL_ALLOC_SHOW_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/alloc/calls.h"

/* Words of --sort and --format, in the order of the enums. */
#define ALLOC_SORTS   "bytes, calls, live, peak or temporary"
#define ALLOC_FORMATS "text, folded, json or pprof"

#define ALLOC_MOST 10 /* stacks, as text */

enum alloc_sort { ALLOC_SORT_BYTES, ALLOC_SORT_CALLS, ALLOC_SORT_LIVE, ALLOC_SORT_PEAK, ALLOC_SORT_TEMPORARY };
enum alloc_format { ALLOC_TEXT, ALLOC_FOLDED, ALLOC_JSON, ALLOC_PPROF };

struct alloc_view {
	const struct alloc_account_book *book;
	FILE *to;
	int sort, format;
	uint32_t most; /* stacks; 0: not given */
	bool timeline;
	/* Accounts that something was allocated in, sorted. */
	uint32_t *stack;
	uint32_t stacks;
};

/* Shows it all; errors are left in the stream. */
void alloc_show(struct alloc_view *view);

/* What it is sorted by. */
uint64_t alloc_view_key(const struct alloc_view *view, const struct alloc_account *account);

static inline const struct alloc_account *alloc_view_account(const struct alloc_view *view, uint32_t at)
{
	return &view->book->model.account[view->stack[at]];
}

/* The frame of a node; the last one may be why there are no more. */
static inline const struct alloc_frame *alloc_view_frame(const struct alloc_view *view, uint32_t node)
{
	return alloc_tree_frame_of(&view->book->tree, node);
}

static inline uint32_t alloc_view_parent(const struct alloc_view *view, uint32_t node)
{
	return view->book->tree.node[node].parent;
}

/* What a frame is called where there is one word for it, which the caller frees. */
char *alloc_view_name(const struct alloc_frame *frame);

#endif
