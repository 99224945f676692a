/* SPDX-License-Identifier: MIT */
/*
 * Lines that fit on a terminal. A line that is too wide loses the ends of its elastic parts first: names, which
 * term_text() has marked; the widest one first, down to FIT_KEEPS columns each. What is still too much is cut at the
 * right. An ellipsis tells where something is missing.
 *
 * A line is text in UTF-8, with escape sequences that change colours (they have no width, and all of them stay), and
 * with the marks. Wide characters have two columns, combining ones none, as wcwidth() says it in the locale of the
 * process. Pure functions.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_FIT_H
#define XAUDIT_TOOL_SHOW_TERM_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Around elastic text. Neither can come from tool_text(), nor is any of them in what the commands say themselves. */
#define FIT_BEGIN '\001'
#define FIT_END	  '\002'

#define FIT_KEEPS 20

/* Writes the line, without marks, in at most so many columns. A newline at its end has none. */
void fit_line(FILE *to, const char *line, size_t length, unsigned columns, const char *ellipsis);

/* How many columns the line takes as a whole. */
size_t fit_columns(const char *line, size_t length);

#endif
