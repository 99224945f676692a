/* SPDX-License-Identifier: MIT */
/*
 * Backtraces as CTF has them: a number, then so many texts, the innermost caller first; and one more that tells why
 * there are no more, unless nobody called the last one. What they look like is kept, since equal backtraces are one.
 * Zeroed memory has none.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_CTF_CALLERS_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_CTF_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

struct ctf_callers {
	struct ctf_callers_one {
		char *bytes; /* NULL: not made yet */
		size_t size;
	} *one; /* by number of the backtrace */
	uint32_t room;
};

/* Valid until the next call. */
const struct ctf_callers_one *ctf_callers(struct ctf_callers *callers, const struct xaudit_read_stack *stack);

void ctf_callers_free(struct ctf_callers *callers);

#endif
