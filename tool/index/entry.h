/* SPDX-License-Identifier: MIT */
/*
 * May a function's entry be written to, and how? There are two forms (enum index_form). The jump of five bytes is
 * taken, except where only that of two bytes is possible, or where that of five would displace a call or an instruction
 * that may fault, and that of two leaves it in place: whoever looks at a fault then sees the function, not a copy of
 * its instructions. One thread; functions in order of their addresses, since two may want the same padding.
 */
#ifndef XAUDIT_TOOL_INDEX_ENTRY_H
#define XAUDIT_TOOL_INDEX_ENTRY_H

#include "tool/index/facts.h"
#include "tool/index/template.h"

struct entry {
	struct index_function function; /* but for name and template */
	struct template template;	/* of usable ones */
	struct template other;		/* which follows it, where it `meets` */
};

struct entries {
	const struct image *image;
	const struct facts *facts;
	uint64_t taken; /* up to here the functions before have bytes that are written to */
	uint64_t next;	/* as `taken`, with this function's */
};

/* Function i of the image, which is no piece. */
void entry_judge(struct entries *entries, size_t i, struct entry *to);

/* The same, where its entry is seen by way of a call (struct index_call). */
void entry_judge_call(struct entries *entries, size_t i, const struct call *call, struct entry *to);

/* No more about function i. */
void entry_done(struct entries *entries);

#endif
