/* SPDX-License-Identifier: MIT */
/* xaudit list FILE SYMBOL: a function's instructions, and what kind entry would do with them. */
#ifndef XAUDIT_TOOL_SHOW_LIST_SYMBOL_H
#define XAUDIT_TOOL_SHOW_LIST_SYMBOL_H

#include <stddef.h>

#include "tool/show/list.h"

/*
 * Shows the functions that a word names, and their instructions: a name, a pattern of names, 0xADDRESS in the function,
 * or FILE+0xADDRESS. fd: of the file. before: how many were shown before. Returns how many they are.
 */
size_t list_symbol(const struct list *list, int fd, const char *word, size_t before);

#endif
