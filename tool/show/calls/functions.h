/* SPDX-License-Identifier: MIT */
/*
 * The functions of several traces, as one list: those of the same name, in a library of the same path, are one. The
 * functions of the first trace have the numbers that they have there; what others have besides comes behind them.
 *
 * A function is here as the first trace has it that has it; so all traces stay open. One thread. When memory runs out,
 * the command ends (tool/base/memory.h).
 */
#ifndef XAUDIT_TOOL_SHOW_CALLS_FUNCTIONS_H
#define XAUDIT_TOOL_SHOW_CALLS_FUNCTIONS_H

#include <stdint.h>

#include "tool/base/hash.h"
#include "tool/read/api/xaudit-read.h"

#define FUNCTIONS_NONE UINT32_MAX

struct functions {
	const struct xaudit_read_function **function; /* by number in the list */
	uint32_t functions;
	struct hash by_name; /* and library */
	struct functions_of {
		uint32_t *number; /* in the list, by number in the trace */
		uint32_t known;
	} *of; /* by number of the trace */
	uint32_t traces;
};

/* Takes all functions of the trace with that number that were met so far and were not taken yet. */
void functions_take(struct functions *functions, const struct xaudit_read_trace *trace, uint32_t number);

/* The number in the list of a function that was taken, by its number in the trace. */
static inline uint32_t functions_number(const struct functions *functions, uint32_t trace, uint32_t number)
{
	return functions->of[trace].number[number];
}

/* The number in the trace of a function of the list; FUNCTIONS_NONE: that trace has it not. */
uint32_t functions_in(const struct functions *functions, uint32_t trace, uint32_t number);

void functions_free(struct functions *functions);

#endif
