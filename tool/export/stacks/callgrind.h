/* SPDX-License-Identifier: MIT */
/*
 * The format callgrind of `xaudit export`: the profile format of valgrind's tool of that name, for KCachegrind,
 * callgrind_annotate and speedscope. For each function its own time and calls, and for each function that it called how
 * often, and the time and calls in these. In a recursive call no more time is told of the edge: so what is recursive by
 * itself has the total that report has. Names stand once, and have numbers from then on. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_STACKS_CALLGRIND_H
#define XAUDIT_TOOL_EXPORT_STACKS_CALLGRIND_H

#include "tool/export/format.h"

#endif
