/* SPDX-License-Identifier: MIT */
/* The table at the end, of -c and -C: as strace has it, with times that calls took themselves. One thread. */
#ifndef XAUDIT_TOOL_TRACE_TABLE_H
#define XAUDIT_TOOL_TRACE_TABLE_H

#include <stdbool.h>

#include "tool/read/api/xaudit-read.h"

void table_add(const struct xaudit_read_call *call, bool failed);

/* A thread came to a probe; those of one name are one row, in a table of their own. */
void table_probe(const struct xaudit_read_probe *probe);

/* Tells the lines, each with its newline. */
void table_print(void (*put)(void *user, const char *line), void *user);

void table_free(void);

#endif
