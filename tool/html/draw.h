/* SPDX-License-Identifier: MIT */
/*
 * The second pass over the calls of a page: rows of the pyramid, and windows. Then the rows that are no calls': when
 * threads were on processors, and how many threads without rows were in a call. One thread.
 */
#ifndef XAUDIT_TOOL_HTML_DRAW_H
#define XAUDIT_TOOL_HTML_DRAW_H

#include "tool/html/html.h"

/* Makes html->pyramid, and fills html->windows. */
void draw(struct html *html);

#endif
