/* SPDX-License-Identifier: MIT */
/*
 * Lines that fit on a terminal. A line that is too wide loses a part of its elastic parts first, which term_text() and
 * term_name() have marked; the widest one first, down to FIT_KEEPS columns each: of names of functions what cut.h says,
 * of others the end. What is still too much is cut at the right. An ellipsis tells where something is missing.
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

/* Around elastic text; the third one is the beginning of a name of a function, instead of the first. None of them can
 * come from tool_text(), nor is in what the commands say themselves. */
#define FIT_BEGIN '\001'
#define FIT_END	  '\002'
#define FIT_NAME  '\003'

#define FIT_KEEPS 20

/* Writes the line, without marks, in at most so many columns. A newline at its end has none. */
void fit_line(FILE *to, const char *line, size_t length, unsigned columns, const char *ellipsis);

/* How many columns the line takes as a whole. */
size_t fit_columns(const char *line, size_t length);

/* The bytes of the character at p, which must be before the end, and how many columns it takes. */
size_t fit_character(const char *p, const char *end, unsigned *columns);

#endif
