/* SPDX-License-Identifier: MIT */
/* xaudit alloc as text: stacks, sums, and live memory over time. One thread. */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_TEXT_H
#define XAUDIT_TOOL_ALLOC_SHOW_TEXT_H

struct alloc_view;

void alloc_show_text(const struct alloc_view *view);

#endif
