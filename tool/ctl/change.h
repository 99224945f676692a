/* SPDX-License-Identifier: MIT */
/* xaudit ctl PID enable, disable, start, stop, mode. */
#ifndef XAUDIT_TOOL_CTL_CHANGE_H
#define XAUDIT_TOOL_CTL_CHANGE_H

#include <stddef.h>

#include "tool/ctl/targets.h"

/* argv[0] is the name. They take their own options and return the exit status. */
int ctl_rules(struct ctl_targets *targets, int argc, char **argv);  /* enable, disable */
int ctl_record(struct ctl_targets *targets, int argc, char **argv); /* start, stop, mode */

/*
 * Enables `rules` rules in each process, where `first` has been done before. word: of each rule, what messages call it.
 * Returns the exit status.
 */
int change_enable(struct ctl_targets *targets, char *const *rule, char *const *word, size_t rules,
	ctl_targets_work *first, void *context);

#endif
