/* SPDX-License-Identifier: MIT */
/*
 * The format pprof of `xaudit export` (profile.proto): calls, time and, where it was recorded, time on processors, of
 * each stack of each thread, whose names and numbers are labels. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_STACKS_PPROF_H
#define XAUDIT_TOOL_EXPORT_STACKS_PPROF_H

#include "tool/export/format.h"

#endif
