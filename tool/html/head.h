/* SPDX-License-Identifier: MIT */
/* The head of a page: what was recorded and of what, what is missing, and where everything is. One thread. */
#ifndef XAUDIT_TOOL_HTML_HEAD_H
#define XAUDIT_TOOL_HTML_HEAD_H

#include <stdio.h>

#include "tool/html/html.h"

/* Makes the rest of the blocks, and writes the head, as JSON. All passes are done. */
void head_write(struct html *html, FILE *to);

#endif
