/* SPDX-License-Identifier: MIT */
/*
 * -e of `xaudit trace`, whose words come from strace and ltrace; and those of strace's options that have no meaning
 * here: these are refused by name, with the reason. One thread.
 */
#ifndef XAUDIT_TOOL_TRACE_SELECT_H
#define XAUDIT_TOOL_TRACE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/base/options.h"
#include "tool/record/record.h"

struct select_words {
	char **word; /* all that the lists point to */
	size_t count;
	struct record_words functions, exclude;
	bool any; /* -e was given */
};

/* Takes the value of one -e. Returns false after a line on stderr. */
bool select_take(struct select_words *select, const char *value);

/* Adds what was taken to record's options: functions, other names that they have, and those that are left out. */
void select_put(struct select_words *select, struct record_options *options);

void select_free(struct select_words *select);

/* Rows for options of strace that are refused: they are not listed. */
const struct options_row *select_refused(size_t *count);

#endif
