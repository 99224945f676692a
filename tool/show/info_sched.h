/* SPDX-License-Identifier: MIT */
/*
 * xaudit info: times on processors, as `xaudit record --sched` records them: lines and members of JSON; nothing if
 * there is nothing of that.
 */
#ifndef XAUDIT_TOOL_SHOW_INFO_SCHED_H
#define XAUDIT_TOOL_SHOW_INFO_SCHED_H

#include "tool/show/info.h"

struct show_colors;

void info_sched(const struct info *info, const struct show_colors *color);
void info_sched_process(const struct info *info, const struct info_process *of);
void info_sched_json(const struct info *info);
void info_sched_process_json(const struct info *info, const struct info_process *of);

#endif
