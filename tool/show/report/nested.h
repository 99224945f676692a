/* SPDX-License-Identifier: MIT */
/*
 * Which calls of a row are in another call of the same row, on their stack: these add nothing to its total. Each row
 * and stack has its innermost open call, found by a hash: so the work on a call does not depend on how deep it is.
 *
 * It takes user[0] of calls. Memory: per open call, and per row and stack. One thread; when memory runs out, the
 * command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_REPORT_NESTED_H
#define XAUDIT_TOOL_SHOW_REPORT_NESTED_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"

struct nested {
	struct nested_call *call; /* [0] is none */
	uint32_t calls, spare;
	struct nested_row *row; /* of a stack */
	uint32_t rows;
	struct hash by_stack; /* of a row's process, number and stack */
};

/* A call begins (XAUDIT_READ_ENTER), which counts for this row; row: not 0. */
void nested_enter(struct nested *nested, struct xaudit_read_call *call, uint32_t row);

/*
 * It is over (XAUDIT_READ_CALL). time: from entry to end; XAUDIT_READ_UNKNOWN: not known, then it is that of the calls
 * of the row in it. Returns the call's row, and in *total what it adds to the total of that. 0: it did not begin here.
 */
uint32_t nested_end(struct nested *nested, const struct xaudit_read_call *call, uint64_t time, uint64_t *total);

/* Forgets all, as for another trace. */
void nested_clear(struct nested *nested);

#endif
