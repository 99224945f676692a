/* SPDX-License-Identifier: MIT */
/*
 * Between tool/show/calls/slow*.c: the longest calls of a function, and a typical one.
 *
 * Two passes over each trace. The first finds which calls are the longest, and the median of all; the second makes the
 * trees of these calls, and adds up what the calls in the middle did: those whose time is among the fifth of all times
 * around the median. A typical call is their average. Calls are outermost ones: recursive calls are in the trees of
 * these.
 *
 * Memory: N trees of at most SLOW_NODES nodes, one more per open call of the function, and SAMPLE_MOST times; slow.c
 * frees it. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_SLOW_H
#define XAUDIT_TOOL_SHOW_CALLS_SLOW_H

#include "tool/show/calls/hits.h"
#include "tool/show/calls/sample.h"
#include "tool/show/calls/tree.h"

#define SLOW_COUNT 5
#define SLOW_COUNT_MOST 1000
#define SLOW_NODES (1u << 14)
#define SLOW_HITS 20 /* of a call, as a list */
#define SLOW_MIDDLE 20 /* calls are typical up to so many in a hundred on either side of the median */

struct slow_call {
	uint64_t start, time;
	uint32_t trace; /* its number */
	struct xaudit_read_process *process;
	uint32_t tid;
	bool found; /* by the second pass, with its tree */
	struct cct tree; /* of functions of the list, in ns */
	uint64_t cpu; /* XAUDIT_READ_UNKNOWN */
	char *values; /* of values_text() */
	const struct xaudit_read_stack *stack; /* that it was called by; NULL: not known */
	char *request; /* NULL: none */
	struct hits hits; /* in it */
};

/* What calls did in one function, without the calls in it. */
struct slow_part {
	uint64_t calls;
	struct cct_time own;
};

struct slow {
	struct view_options options;
	struct tree_options tree;
	uint32_t count; /* how many calls are wanted */
	const char *word;

	bool cpu;
	struct view_left left;
	bool probes; /* threads came to some */
	const struct xaudit_read_function *function;
	uint32_t number; /* its number in the list */
	struct slow_call *call; /* the longest first */
	uint32_t calls;
	struct sample times;
	uint64_t median, low, high;

	/* By number of the function: sums over `middle` calls, in ns. */
	struct slow_parts {
		struct slow_part *part;
		uint32_t functions;
	} typical;
	uint64_t middle;
};

#endif
