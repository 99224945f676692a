/* SPDX-License-Identifier: MIT */
/*
 * `xaudit alloc` of a command: records it in a folder of its own, as `xaudit record` does with the right rules, and
 * adds up while it runs (follow.h), so that the trace does not fill the disk. One thread, beside those of record.h and
 * follow.h.
 */
#ifndef XAUDIT_TOOL_ALLOC_RUN_H
#define XAUDIT_TOOL_ALLOC_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/alloc/calls.h"
#include "tool/record/record.h"

struct alloc_run {
	struct record_options record;
	const char *keep;   /* folder of the trace; NULL: one that is removed */
	uint32_t backtrace; /* callers, at most */
	uint64_t sample;    /* samples, one in so many bytes; 0: all */
	bool maps;	    /* mappings, too */
	struct alloc_account_book *book; /* open */
	/* Called when all is in the book. */
	void (*report)(void *context);
	void *context;
};

/*
 * Runs the command. Returns the exit status; or this process ends by the command's signal, or by one that came while
 * the rest was read.
 */
int alloc_run(struct alloc_run *run, char **command);

#endif
