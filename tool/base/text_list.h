/* SPDX-License-Identifier: MIT */
/*
 * Lists of texts in a row: each with its NUL, then an empty one, as xaudit_read_function.aliases. To go through one:
 *
 *	for (const char *text = list; *text; text += strlen(text) + 1)
 *
 * Any thread.
 */
#ifndef XAUDIT_TOOL_BASE_TEXT_LIST_H
#define XAUDIT_TOOL_BASE_TEXT_LIST_H

#include <stddef.h>
#include <string.h>

/* Bytes of the list, with the empty text. */
static inline size_t text_list_size(const char *list)
{
	const char *text = list;

	while (*text)
		text += strlen(text) + 1;
	return (size_t)(text - list) + 1;
}

#endif
