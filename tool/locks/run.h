/* SPDX-License-Identifier: MIT */
/*
 * `xaudit locks` records a command in a folder of its own, as `xaudit record` does with the right rules, and reports
 * when the command has ended; or it reports of a trace that is there. One thread, beside those of record.h.
 */
#ifndef XAUDIT_TOOL_LOCKS_RUN_H
#define XAUDIT_TOOL_LOCKS_RUN_H

#include <stdint.h>

#include "tool/record/record.h"

struct locks_run {
	struct record_options record;
	const char *keep;   /* folder of the trace; NULL: one that is removed */
	uint32_t backtrace; /* callers, at most */
	/* Called when all of the trace is there. */
	void (*report)(void *context, const char *folder);
	void *context;
};

/* Runs the command. Returns the exit status; or this process ends by the command's signal. */
int locks_run(struct locks_run *run, char **command);

#endif
