/* SPDX-License-Identifier: MIT */
/*
 * What the user asked of `xaudit record`: its options, for the parts that turn them into rules. The parts, in the order
 * in which record.c comes to them: run.h (finding the command), objects.h, rules.h, static_tls.h, indexing.h, folder.h,
 * sched_thread.h, record_file.h, broker.h, unmatched.h, reaper.h, drain_thread.h, run.h and signals.h (running the
 * command), outcome.h with trim.h, losses.h and untraced.h, pack.h. All is done by one thread, but for broker.c,
 * reaper.c, drain_thread.c and sched_thread.c, which have their own.
 */
#ifndef XAUDIT_TOOL_RECORD_RECORD_H
#define XAUDIT_TOOL_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "audit/rules/keys.h"

struct record_words {
	const char **word;
	size_t count;
};

struct record_options {
	const char *output, *config;	     /* NULL: not given */
	const char *value[RULES_KEYS_TRACE]; /* of keys that are no lists; NULL: not given */
	struct record_words libraries, functions, exclude, below, snapshots;
	struct record_words contexts, args, results;
	bool start_disabled, merge, sched, perf, pack, args_of_all, no_values;
	unsigned kinds; /* mask; 0: not given */
	char **command;
};

#endif
