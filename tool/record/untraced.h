/* SPDX-License-Identifier: MIT */
/* Why the module never came up in a program: ld.so gives no message when it ignores LD_AUDIT. */
#ifndef XAUDIT_TOOL_RECORD_UNTRACED_H
#define XAUDIT_TOOL_RECORD_UNTRACED_H

/* Says on stderr why the file at path could not be traced. command: as the user named it. */
void record_untraced_say(const char *command, const char *path);

#endif
