/* SPDX-License-Identifier: MIT */
/*
 * The page's own code: a template that comes with xaudit. One thread.
 */
#ifndef XAUDIT_TOOL_HTML_PAGE_TEMPLATE_H
#define XAUDIT_TOOL_HTML_PAGE_TEMPLATE_H

#include <stdbool.h>

struct page_template {
	char *text; /* to be freed */
	const char *behind; /* what follows the data; `text` has what is before it */
};

/* Returns false after one line on stderr, for `command`. */
bool page_template(const char *command, struct page_template *page);

#endif
