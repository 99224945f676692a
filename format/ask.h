/* SPDX-License-Identifier: MIT */
/*
 * Snapshots that a process asks for, as actions say (format/plan.h): its head (format/trace.h) has a row for each name
 * and limit. Threads only count there, and in the family's first head; `xaudit record`, if it is beside, copies.
 */
#ifndef XAUDIT_FORMAT_ASK_H
#define XAUDIT_FORMAT_ASK_H

#include <stdint.h>

#define TRACE_ASKS     8
#define TRACE_ASK_NAME 32

struct trace_ask {
	char name[TRACE_ASK_NAME]; /* ends with NUL; "": the usual one */
	uint64_t at_most;	   /* ns: one in that time; 0: each */
	uint32_t asked;		   /* how often; grows, and wraps */
	uint32_t unused;
};

#endif
