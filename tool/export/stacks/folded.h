/* SPDX-License-Identifier: MIT */
/*
 * The format folded of `xaudit export`: a line per stack, for flamegraph.pl, speedscope and others; with the time in ns
 * that it had of its own. Lines are those of `xaudit stacks --format=folded`, which has other filters, and other sums
 * than time. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_STACKS_FOLDED_H
#define XAUDIT_TOOL_EXPORT_STACKS_FOLDED_H

#include "tool/export/format.h"

#endif
