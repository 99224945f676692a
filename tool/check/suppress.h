/* SPDX-License-Identifier: MIT */
/*
 * Suppressions, written like valgrind's: files of blocks, each of which names a kind of finding, the library, and how
 * the stack begins.
 */
#ifndef XAUDIT_TOOL_CHECK_SUPPRESS_H
#define XAUDIT_TOOL_CHECK_SUPPRESS_H

#include <stdbool.h>
#include <stdio.h>

struct check_finding;

/* Adds the suppressions of a file; of xaudit's own file. 0, or -1 after one line on stderr. */
int check_suppress_read(const char *path);
int check_suppress_read_default(void);

/* Shall the finding not be told? If so, counts it for its suppression. */
bool check_suppressed(const struct check_finding *finding);

/* Writes a suppression of that finding, which users can copy. */
void check_suppress_put(FILE *to, const struct check_finding *finding);

/* Writes "suppressions":[...], those that were used. */
void check_suppress_json(FILE *to);

#endif
