/* SPDX-License-Identifier: MIT */
/*
 * Where functions are defined: file and line, by the debug information of the object file, or of a file that belongs to
 * it and has the same build-id. Both must have the build-id that the trace has, and the trace must have one: else there
 * is another file there today, and nothing is said. Files are looked for on this system alone, at the object's path;
 * debug information also in .build-id/ of the folders of $XAUDIT_DEBUG_PATH (by default /usr/lib/debug), and where the
 * object's debug link says, in its folder, in .debug in it, and below these folders.
 *
 * Found lines are kept. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_SRCLINE_H
#define XAUDIT_TOOL_SHOW_TERM_SRCLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/options.h"
#include "tool/read/api/xaudit-read.h"

/* The row of the option that asks for them, for the command that runs. */
#define SRCLINE_ROW { 0, "srcline", NULL, "file and line of functions, by debug information", .take = srcline_take }
bool srcline_take(const struct options_given *given);

/* Was the option given? */
bool srcline_wanted(void);

/* Writes " FILE:LINE" for people, if that is wanted and known, else nothing. */
void srcline_print(FILE *file, const struct xaudit_read_function *function);

/* Writes ,"source":"FILE","line":LINE, or nothing. */
void srcline_json(FILE *file, const struct xaudit_read_function *function);

/*
 * The same for who has names only: of an object that a process of one of these traces has had, the function with that
 * name, if just one has it.
 */
void srcline_objects(struct xaudit_read_trace *trace);
void srcline_print_named(FILE *file, const char *library, const char *name);
void srcline_json_named(FILE *file, const char *library, const char *name);

/* The file; NULL: it is not wanted, or not known. */
const char *srcline_named(const char *library, const char *name, int *line);

#endif
