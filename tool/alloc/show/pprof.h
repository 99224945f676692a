/* SPDX-License-Identifier: MIT */
/*
 * xaudit alloc as a profile of pprof (profile.proto): what was allocated, and what was live at the end, in blocks and
 * bytes. One thread.
 */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_PPROF_H
#define XAUDIT_TOOL_ALLOC_SHOW_PPROF_H

struct alloc_view;

void alloc_show_pprof(const struct alloc_view *view);

#endif
