/* SPDX-License-Identifier: MIT */
/* xaudit info of many processes, such as a build's: a line per program, and each note once. */
#ifndef XAUDIT_TOOL_SHOW_INFO_MANY_H
#define XAUDIT_TOOL_SHOW_INFO_MANY_H

#include "tool/show/info.h"

struct show_colors;

/*
 * Where there are many processes, writes this in place of each of them: lines per program, how its processes ended,
 * their notes.
 */
void info_many(const struct info *info, const struct show_colors *color);

#endif
