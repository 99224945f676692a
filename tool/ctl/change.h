/* SPDX-License-Identifier: MIT */
/* xaudit ctl PID enable, disable, start, stop, mode. */
#ifndef XAUDIT_TOOL_CTL_CHANGE_H
#define XAUDIT_TOOL_CTL_CHANGE_H

struct ctl_targets;

/* argv[0] is the name. They take their own options and return the exit status. */
int ctl_rules(struct ctl_targets *targets, int argc, char **argv);  /* enable, disable */
int ctl_record(struct ctl_targets *targets, int argc, char **argv); /* start, stop, mode */

#endif
