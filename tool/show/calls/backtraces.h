/* SPDX-License-Identifier: MIT */
/*
 * Recorded backtraces (xaudit-read-frames.h) in a tree of calls (cct.h): a call that has one gets its place below the
 * callers that it tells, traced or not, whatever calls are around it; others are below the call around them. A node of
 * such a caller has a number from BACKTRACES_FIRST on instead of that of a function. Where a backtrace ends too early,
 * the outermost node tells why.
 *
 * A caller is a function, as far as symbols tell; else, or if `places` is set, a place in one.
 *
 * Limits: those of the tree. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_BACKTRACES_H
#define XAUDIT_TOOL_SHOW_CALLS_BACKTRACES_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/calls/cct.h"
#include "tool/show/show.h"

#define BACKTRACES_FIRST (1u << 31)

struct backtraces {
	bool places;
	uint64_t calls; /* that had one; and events of probes */
	/* A caller: */
	struct backtraces_row {
		const struct xaudit_read_frame *frame; /* the first one of it that was met; NULL: no caller, */
		const char *end;		       /* but why there are no more */
		const struct xaudit_read_object *object; /* as one of the traces has it */
		uint64_t start; /* of the function in the object; or of the place */
	} *row;
	uint32_t rows;
	struct hash by_start; /* of row[] */
	/* By their numbers in the trace: the row, and the node, plus 1; 0: not known yet. */
	uint32_t *of_frame, *of_stack;
	uint32_t frames, stacks;
};

/*
 * Has the tree place calls so, which are those of one trace; before the first call is given to it. backtraces: of
 * zeroed memory but for `places`, or of another trace, whose callers are kept: the same one has the same number.
 */
void backtraces_begin(struct backtraces *backtraces, struct cct *cct);

/*
 * The node of the innermost of the callers that a stack tells, in a tree that was begun so; or of the last one for
 * which there is room: then false is returned.
 */
bool backtraces_node(
	struct backtraces *backtraces, struct cct *cct, const struct xaudit_read_stack *stack, uint32_t *node);

static inline bool backtraces_has(uint32_t number)
{
	return number >= BACKTRACES_FIRST && number != UINT32_MAX; /* the root */
}

/* Before any of them is printed: a function that will be (names_meet()). */
void backtraces_meet(const struct backtraces *backtraces, uint32_t number);

/* "name [library]", with --srcline as frames_print() */
void backtraces_print(const struct backtraces *backtraces, uint32_t number, const struct show_colors *color);

/* The name alone, which the caller frees. */
char *backtraces_name(const struct backtraces *backtraces, uint32_t number);

/* {"function":...,"library":...,...} */
void backtraces_json(const struct backtraces *backtraces, uint32_t number);

void backtraces_free(struct backtraces *backtraces);

#endif
