/* SPDX-License-Identifier: MIT */
/*
 * Standard output of the commands that show things, where it is a terminal: lines that are rows of a table, or of a
 * tree, are cut to its width (fit.h), and a pager shows them (pager.h), which starts when the first of them comes:
 * until then the terminal has room for progress.h. Elsewhere, in a pipe and in a file, nothing is changed.
 *
 * `stdout` becomes a stream of its own here; it is used as ever. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_TERM_H
#define XAUDIT_TOOL_SHOW_TERM_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/base/options.h"

/* The row of the option that has no pager started. */
#define TERM_ROW { 0, "no-pager", NULL, "no pager, though the output is a terminal", .take = term_take_no_pager }
bool term_take_no_pager(const struct options_given *given);

/* To be called once, when the options are known and nothing is written yet. rows: lines are rows from the first on. */
void term_begin(bool rows);

/* From here on lines are rows, which may be cut, or they are sentences. It stands between two lines. */
void term_rows(bool rows);

/* Does the output go to a terminal, by way of a pager perhaps? After term_begin(). */
bool term_is(void);

/* How wide rows may be, after term_begin(); 0: nothing is cut. */
unsigned term_columns(void);

/* What tells on this terminal that something was cut away. Sets the locale by which fit.h knows widths. */
const char *term_ellipsis(void);

/* tool_text(), of a name or path that may be cut before the rest of its row is. */
void term_text(FILE *file, const char *text);

/* The same of the name of a function, which keeps the name of the method (cut.h). */
void term_name(FILE *file, const char *name);

#endif
