/* SPDX-License-Identifier: MIT */
/* Going through all calls of the traces of a report, for the questions that need each of them. */
#ifndef XAUDIT_TOOL_SHOW_REPORT_EACH_CALL_H
#define XAUDIT_TOOL_SHOW_REPORT_EACH_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"
#include "tool/show/report/report.h"
#include "tool/show/report/tally.h"

struct meant;

struct report_calls {
	bool enters, customs, probes, values, requests;
	void (*begin)(void *user, uint32_t trace); /* before the calls of a trace; NULL: nothing */
	void (*take)(void *user, const struct xaudit_read_item *item);
	struct tallies *rows; /* to which calls are added */
	void *user;
};

/* Gives all items of the traces that the options want to take(), and adds up report->left. */
void report_each(struct report *report, const struct report_calls *calls);

/*
 * The same of two sides, the first `old` traces and the rest, each with calls of its own: where -j allows it at once,
 * the second side by a thread of its own. So what they count must not be the same, nor names be printed or demangled
 * there; all is over when it returns.
 */
void report_both(struct report *report, const struct report_calls calls[2], uint32_t old);

/* Do --tid, --from and --to ask for what an item of a trace tells, that a thread came to a probe? */
bool report_takes_probe(const struct report *report, uint32_t trace, const struct xaudit_read_item *item);

/* Fills in report->columns if none were chosen: for a table these. */
void report_columns(struct report *report, const uint8_t *usual, unsigned count);

/* Says that the traces have no such function, and what was meant, perhaps; ends that. Returns TOOL_FAILED. */
int report_no_function(const struct report *report, const char *pattern, struct meant *meant);

#endif
