/* SPDX-License-Identifier: MIT */
/*
 * xaudit alloc as folded stacks, for flame graphs: a line each, the outermost name first, and what it is sorted by.
 */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_FOLDED_H
#define XAUDIT_TOOL_ALLOC_SHOW_FOLDED_H

struct alloc_view;

void alloc_show_folded(const struct alloc_view *view);

#endif
