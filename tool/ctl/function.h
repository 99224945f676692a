/* SPDX-License-Identifier: MIT */
/*
 * xaudit ctl function: records calls of functions of a running process, as `record --function` does from its start:
 * gives them names, then values, and then switches them on, each in a stop of its own, so that their first event has
 * both.
 */
#ifndef XAUDIT_TOOL_CTL_FUNCTION_H
#define XAUDIT_TOOL_CTL_FUNCTION_H

struct ctl_targets;

/* function [OPTION]... [NAME=]SYMBOL[@LIBRARY]...: takes its own options and returns the exit status. */
int ctl_function(struct ctl_targets *targets, int argc, char **argv);

#endif
