/* SPDX-License-Identifier: MIT */
/*
 * The page's own code, a template that comes with xaudit, and the file that a page is written to: under a name of its
 * own until it is complete, so that no one sees half a page, and what was there before stays if it can't be written.
 * One thread.
 */
#ifndef XAUDIT_TOOL_HTML_PAGE_H
#define XAUDIT_TOOL_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct page_template {
	char *text; /* to be freed */
	const char *behind; /* what follows the data; `text` has what is before it */
};

/* Returns false after one line on stderr, for `command`. */
bool page_template(const char *command, struct page_template *page);

struct page_file {
	const char *command, *name; /* "-": standard output */
	char *new;		    /* what it is called until it is complete; NULL: it is written as it is */
	bool temporary;
	FILE *to;
};

/* Begins the file. Returns false after one line. */
bool page_open(struct page_file *file, const char *command, const char *name);

/* A file that no one else can have made, in the folder for temporary files; file->name is to be freed. */
bool page_open_temporary(struct page_file *file, const char *command);

/* Gives it its name. Returns false after one line; then the new file is gone. */
bool page_close(struct page_file *file);

/* Gives it up: the new file is gone. */
void page_drop(struct page_file *file);

#endif
