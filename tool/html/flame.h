/* SPDX-License-Identifier: MIT */
/*
 * Flame graph, callers and callees: the tree of calls (tool/show/calls/cct.h), of which the nodes with the most time
 * are in the page, and what is below them is added up; and for each pair of a caller and a function the sums over all
 * calls, exactly. Numbers of functions are those of the page.
 *
 * All calls go through here in a thread of its own, which opens the trace once more, since looking for nodes takes as
 * long as the rest of a pass. From flame_begin() to flame_write() the caller leaves the rows of the table of functions
 * where they are. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_FLAME_H
#define XAUDIT_TOOL_HTML_FLAME_H

#include "tool/html/html.h"

struct flame;

/* The table of functions is there. */
struct flame *flame_begin(struct html *html);

/* Waits for the end of the pass, adds the blocks, and writes the member of the head. */
void flame_write(struct flame *flame, struct html *html, FILE *head);

/* Waits, too, if flame_write() was not called. */
void flame_close(struct flame *flame);

#endif
