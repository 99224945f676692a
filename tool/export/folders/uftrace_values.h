/* SPDX-License-Identifier: MIT */
/*
 * Values of calls as uftrace has them behind its records. What a function's look like is told once, in a .dbg file: a
 * letter for each argument and for the result. Here the first call with values decides that: numbers that people read
 * as numbers are numbers, all else is text, as xaudit shows it. A later call whose values don't look so (a number that
 * could not be read) has none.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_VALUES_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_UFTRACE_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/read/api/xaudit-read.h"

#define UFTRACE_ARGUMENTS 16
#define UFTRACE_BYTES	  512 /* that the values of a record take at most */

/* Letters of uftrace's: i u x p f s; zeros: not known yet. */
struct uftrace_spec {
	char argument[UFTRACE_ARGUMENTS + 1];
	char result;
};

/* Write what follows a record. to: UFTRACE_BYTES. Return its size, a multiple of 8; 0: nothing does. */
size_t uftrace_arguments(struct uftrace_spec *spec, const struct xaudit_read_call *call, uint8_t *to);
size_t uftrace_result(struct uftrace_spec *spec, const struct xaudit_read_call *call, uint8_t *to);

/* The lines of a function that has a spec. */
void uftrace_spec_lines(FILE *file, const struct uftrace_spec *spec);

#endif
