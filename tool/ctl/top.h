/* SPDX-License-Identifier: MIT */
/* `xaudit ctl PID top`, a command that needs only the folder (folder.h): functions screen by screen. */
#ifndef XAUDIT_TOOL_CTL_TOP_H
#define XAUDIT_TOOL_CTL_TOP_H

#include <stddef.h>
#include <stdint.h>

#define TOP_DELAY 2 /* seconds */

struct ctl_trace;

/* top [-b] [-n COUNT] [-d SECONDS]: functions by calls and self time since the last screen; of one folder. */
int ctl_top(uint32_t pid, const struct ctl_trace *trace, size_t traces, int argc, char **argv);

#endif
