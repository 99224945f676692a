/* SPDX-License-Identifier: MIT */
/*
 * Calls that have not returned after some time, of functions that have an action `running longer` (PLAN_ACTION_RUNNING
 * of format/plan.h). No thread of the process can tell of a call that hangs: so `xaudit record`, or `xaudit ctl watch`,
 * looks from outside (tool/record/asked/running.h), and the process only leaves open what is to be seen:
 *
 *	trace_head.running	the address of a struct running_block, once there is such an action. It says where the
 *				rest is, and how long calls of each number of ask.h have
 *	struct side		the list of each stack (side.h) has an entry for each call that began since then: since
 *				when, and of which numbers it is. Such functions have these entries anyway, as those
 *				that an action with `longer` has: a call costs no more
 *	struct stack		the entry counts as long as the stack has the same number and the call is open there
 *	generation		the process's own number: calls that began before the fork are the parent's
 *
 * Who looks reads memory of a process that runs, and that may be anyone's: what it reads may be half old, half new, or
 * forged. An entry has `running` last, and 0 while it is written. Nobody but the process writes to any of it.
 *
 * The block never moves, and is what a forked child has, too. Rows are added under the process lock.
 */
#ifndef XAUDIT_RUNTIME_VALUES_RUNNING_H
#define XAUDIT_RUNTIME_VALUES_RUNNING_H

#include <stdint.h>

#include "format/ask.h"

#define RUNNING_MAGIC 0x316e757275617831ull

struct side;

struct running_row {
	uint64_t longer; /* ns; 0: snapshots of this number are asked for by threads */
	uint64_t every;	 /* one call in so many that come to that time; 0: each */
	uint32_t once;	 /* not 0: the first one of the process alone */
	uint32_t unused;
};

struct running_block {
	uint64_t magic;
	uint32_t side_size, entry_size, stack_size; /* of the structs: the same in who reads them, or it does not */
	uint32_t unused;
	struct side *const *first;  /* side_first() */
	const uint32_t *generation; /* identity_place() */
	struct running_row row[TRACE_ASKS];
};

/* A snapshot that an action wants. */
struct running_wanted {
	const char *name;
	uint64_t at_most; /* ns */
	struct running_row row;
};

#endif
