/* SPDX-License-Identifier: MIT */
/* xaudit ctl when: actions of functions and probes of a running process (tool/values/action.h). */
#ifndef XAUDIT_TOOL_CTL_WHEN_H
#define XAUDIT_TOOL_CTL_WHEN_H

struct ctl_targets;

/*
 * when 'FUNCTION|PROBE [WORD...]' ACTION [thread] [-o NAME] [--at-most=TIME]. An action is added to those that are
 * there, and what is recorded stays as it is. FUNCTION: a pattern, or a name of functions (names.h). Returns the status
 * of the command.
 */
int ctl_when(struct ctl_targets *targets, int argc, char **argv);

#endif
