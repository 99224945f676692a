/* SPDX-License-Identifier: MIT */
/* xaudit slow: the longest calls of a function, and what they did that others did not. */
#include <stdlib.h>

#include "tool/base/tool.h"
#include "tool/show/calls/slow.h"
#include "tool/show/term/srcline.h"

static const struct options_row rows[] = {
	{ 'n', "count", "N", "so many calls (default: 5)", .take = options_number, .most = SLOW_COUNT_MOST,
		.at = offsetof(struct slow, count), .allowed = "a number from 1 to 1000" },
	TREE_ROWS(struct slow),
	SHOW_FORMAT("text or json", "text (default) or json"),
	SRCLINE_ROW,
	VIEW_ROWS
};

static const struct options_syntax syntax = {
	.command = "slow",
	.rows = rows,
	.column = SHOW_COLUMN,
	.head = "Usage: xaudit slow [OPTION]... FUNCTION [DIR]\n"
		"Shows the longest calls of FUNCTION, each with its tree of calls and what differs from a\n"
		"typical one, from the trace in DIR (default: " TOOL_FOLDER ").\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"FUNCTION is a name, or NAME@LIBRARY; both may be patterns.\n",
};

static void slow_free(struct slow *slow)
{
	for (uint32_t i = 0; i < slow->calls; i++)
		if (slow->call[i].found)
			cct_close(&slow->call[i].tree);
	free(slow->call);
	free(slow->typical);
	sample_free(&slow->times);
}

int slow_main(int argc, char **argv)
{
	struct slow slow = { .count = SLOW_COUNT, .tree = { .min = TREE_MIN } };
	int status;

	slow.trace = view_open(&slow.options, &syntax, argc, argv, &slow.word, true, &status);
	if (!slow.trace)
		return status;
	slow.color = show_colors(&slow.options.show);
	slow.cpu = xaudit_read_trace_info(slow.trace)->sched;

	bool found = slow_find(&slow);
	if (found) {
		slow_read(&slow);
		if (slow.options.show.json)
			slow_json(&slow);
		else
			slow_print(&slow);
	}
	slow_free(&slow);
	status = show_end_trace(slow.trace);
	return found ? status : TOOL_FAILED;
}
