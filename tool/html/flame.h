/* SPDX-License-Identifier: MIT */
/*
 * Flame graph, callers and callees: the tree of calls (tool/show/calls/cct.h), of which the nodes with the most time
 * are in the page, and what is below them is added up; and for each pair of a caller and a function the sums over all
 * calls, exactly. Numbers of functions are those of the page.
 *
 * All calls go through here in a thread of its own, which opens the trace once more, since looking for nodes takes as
 * long as the rest of a pass. From page_flame_begin() to page_flame_write() the caller leaves the rows of the table of
 * functions where they are. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_FLAME_H
#define XAUDIT_TOOL_HTML_FLAME_H

#include "tool/html/html.h"

struct page_flame;

/* The table of functions is there. */
struct page_flame *page_flame_begin(struct html *html);

/* Waits for the end of the pass, adds the blocks, and writes the member of the head. */
void page_flame_write(struct page_flame *flame, struct html *html, FILE *head);

/* Waits, too, if page_flame_write() was not called. */
void page_flame_close(struct page_flame *flame);

#endif
