/* SPDX-License-Identifier: MIT */
/*
 * What `xaudit slow` shows of the calls that it found: a table with differences from a typical call, or JSON. One
 * thread.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_SLOW_PRINT_H
#define XAUDIT_TOOL_SHOW_CALLS_SLOW_PRINT_H

#include "tool/show/calls/slow.h"

void slow_print(const struct slow *slow);
void slow_json(const struct slow *slow);

#endif
