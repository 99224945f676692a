/* SPDX-License-Identifier: MIT */
/*
 * The format speedscope of `xaudit export`: JSON of https://www.speedscope.app/file-format-schema.json. Up to
 * SPEEDSCOPE_MOST calls: a profile per track, with each call. Of more, which speedscope could not open, a profile per
 * thread, with its merged stacks, each as wide as the time that it had of its own. Which of these it will be is known
 * at the end: so calls are kept until there are too many, in 32 MB.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_STACKS_SPEEDSCOPE_H
#define XAUDIT_TOOL_EXPORT_STACKS_SPEEDSCOPE_H

#include "tool/export/format.h"

#define SPEEDSCOPE_MOST 1000000u

#endif
