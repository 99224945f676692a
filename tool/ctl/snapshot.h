/* SPDX-License-Identifier: MIT */
/* `xaudit ctl PID snapshot`, a command that needs only the folder (folder.h). */
#ifndef XAUDIT_TOOL_CTL_SNAPSHOT_H
#define XAUDIT_TOOL_CTL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct ctl_trace;

/* snapshot [-o DIR]: copies the newest events to a trace folder of their own, one for all. */
int ctl_snapshot(uint32_t pid, const struct ctl_trace *trace, size_t traces, int argc, char **argv);

#endif
