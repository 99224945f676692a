/* SPDX-License-Identifier: MIT */
/* The options, and the numbers for the end. */
#ifndef XAUDIT_TOOL_CHECK_STATE_H
#define XAUDIT_TOOL_CHECK_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct check_options {
	bool scan, cycles, generate;
	int json, no_defaults;
	int error_status;
	const char *output; /* NULL: standard error */
	const char **suppressions;
	size_t suppression_count;
	char **command;
};

extern struct check_options check_options;

/* Numbers for the end. */
struct check_counts {
	unsigned unloads, processes;
	unsigned unstopped; /* threads that did not stop in time */
	unsigned missed, blind, listless, unreserved, confined, unchecked;
	unsigned suppressed;   /* times */
	unsigned unsuppressed; /* the file of default suppressions is missing */
};
extern struct check_counts check_counts;

#endif
