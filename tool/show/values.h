/* SPDX-License-Identifier: MIT */
/*
 * Values of calls (tool/read/api/xaudit-read-values.h) in what commands show. The traced program may have made them of
 * any bytes: all that is written here is harmless on a terminal, and valid JSON.
 *
 * Errors are left in the stream (ferror). One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_VALUES_H
#define XAUDIT_TOOL_SHOW_VALUES_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

/*
 * The arguments of a call, and its result, as xaudit_read_arguments_text() and xaudit_read_result_text() have them.
 * Where lines are cut to the terminal (term.h), arguments are, like names.
 */
void values_arguments(FILE *file, const struct xaudit_read_values *entered, const struct xaudit_read_values *ended);
void values_result(FILE *file, const struct xaudit_read_values *ended, int how);

/*
 * All values of a probe, in brackets: (n=3, "text"). Of a text so many bytes are shown. Where lines are cut to the
 * terminal, they are, as arguments.
 */
void values_list(FILE *file, const struct xaudit_read_values *values, uint32_t most);

/* Both of a call that is over, in one text, which the caller frees; NULL: it has no values. */
char *values_text(const struct xaudit_read_call *call);

/* Has a value of these the role? */
bool values_have(const struct xaudit_read_values *values, enum xaudit_read_value_role role);

/* Writes ,"KEY":[{"name":...,"value":...,...},...] where there are values, else nothing. */
void values_json(FILE *file, const char *key, const struct xaudit_read_values *values);

/*
 * The text of the value of that name in what was recorded when the call began, or else when it ended; an errno only
 * where it counts. Without regard to their names, `argN` is the argument number N, from 1 on, `ret` the result and
 * `errno` the error. The caller frees it. NULL: there is none.
 */
char *values_named(const struct xaudit_read_call *call, const char *name);

/* The same among these values, as of a probe. */
char *values_one(const struct xaudit_read_values *values, const char *name);

#endif
