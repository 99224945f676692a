/* SPDX-License-Identifier: MIT */
/* What is recorded of a function whose prototype is known: the contexts `args` and `retval`. Keeps nothing. */
#ifndef XAUDIT_TOOL_VALUES_CONTEXTS_H
#define XAUDIT_TOOL_VALUES_CONTEXTS_H

#include <stdbool.h>

#include "tool/values/prototype.h"

/*
 * The contexts (expression.h) that record its arguments, what comes back, or both; NULL: there are none. contents: with
 * the bytes that parameters point to, else their addresses. To be freed. Memory that runs out ends the command.
 */
char *contexts_of(const struct prototype *of, bool arguments, bool result, bool contents);

#endif
