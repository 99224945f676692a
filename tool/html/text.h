/* SPDX-License-Identifier: MIT */
/*
 * JSON within a page of HTML. All text comes from the traced program: so what would end the element that the JSON is
 * in, steer a terminal or turn the direction of writing (runtime/base/text.h) is escaped or shown as '?', and bytes
 * that are no UTF-8 are '?', too. Errors are left in the stream (ferror). Any thread.
 */
#ifndef XAUDIT_TOOL_HTML_TEXT_H
#define XAUDIT_TOOL_HTML_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* A string in quotes; NULL: null. */
void html_string(FILE *to, const char *text);

/* `between`, then "key":, and a string, a number, or null for UINT64_MAX. */
void html_member(FILE *to, const char *between, const char *key, const char *text);
void html_number(FILE *to, const char *between, const char *key, uint64_t number);

/* Cuts a text, which is from malloc(), to `most` bytes between characters, with "..." behind. Returns its place. */
char *html_cut(char *text, size_t most);

/* A stream into memory that ends the command where that runs out; html_close() gives what was written. */
struct html_memory {
	FILE *to;
	char *text;
	size_t size;
};
void html_open(struct html_memory *memory);
void html_close(struct html_memory *memory); /* text is to be freed */

#endif
