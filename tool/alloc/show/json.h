/* SPDX-License-Identifier: MIT */
/* xaudit alloc as JSON. One thread. */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_JSON_H
#define XAUDIT_TOOL_ALLOC_SHOW_JSON_H

struct alloc_view;

void alloc_show_json(const struct alloc_view *view);

#endif
