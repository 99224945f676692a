/* SPDX-License-Identifier: MIT */
/*
 * The first pass over the calls of a page: which tracks there are, when calls began, which of them took long, events
 * and requests, calling contexts. One thread. When memory runs out, the command ends.
 */
#ifndef XAUDIT_TOOL_HTML_SURVEY_H
#define XAUDIT_TOOL_HTML_SURVEY_H

#include <stdint.h>

#include "tool/html/counts.h"
#include "tool/html/html.h"
#include "tool/html/lanes.h"
#include "tool/html/picks.h"

#define SURVEY_COLUMNS 65536u /* in which calls of all tracks are counted */
#define RATE_COLUMNS   1024u
#define RATES	       50u /* functions whose calls are counted over time */

struct survey {
	uint64_t calls, events; /* of the tracks; of all: an event each for a call's begin and its end */
	uint64_t from, to;	/* the first start, and the last end */
	struct counts when;	/* calls began */
	struct counts rate[RATES + 1]; /* all, and of functions with function_row.rate */
	uint32_t rate_function[RATES], rates;
	struct picks outliers, slowest, around;
	struct lanes lanes;
	struct xaudit_read_sums sums;
};

/* Makes html->survey, and adds blocks. The profile is there. */
void survey_make(struct html *html);
void survey_write_rates(struct html *html, FILE *head);
void survey_close(struct survey *survey);

#endif
