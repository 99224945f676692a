/* SPDX-License-Identifier: MIT */
#include "runtime/process/leave.h"

#include "runtime/base/identity.h"
#include "runtime/files/pool.h"
#include "runtime/files/pool_grow.h"
#include "runtime/files/pool_make.h"
#include "runtime/process/process.h"
#include "runtime/process/rights.h"
#include "runtime/process/thread.h"
#include "x86_64/confined.h"
#include "x86_64/labels.h"
#include "x86_64/sys.h"

/* Lock held. */
static void leave(void)
{
	static int said; /* in a family that others have, once */

	if (thread_forget_all()) {
		if (!process_leave(false)) {
			labels_leave();
			process_start();
		}
	} else if (!said) {
		said = 1;
		process_say("the process gives up rights while several of its threads are recorded: its trace stays in "
			    "one file with that of processes which keep theirs");
	}
}

void leave_before(const uint32_t call[4])
{
	struct process_held held;

	/* Or to make a task that shares the memory: then the process leaves, though nobody else has the file. */
	if (call[0] == __NR_fork || call[0] == __NR_clone || call[0] == __NR_clone3) {
		pool_inherited();
		return;
	}

	if (confined() || !pool_is_open() || process_state() == PROCESS_OFF || process_is_inside() ||
		!identity_is_ours())
		return;
	process_lock(&held);
	/* Signals are blocked now. */
	if (pool_is_open() && rights_are_given_up(call)) {
		if (pool_is_shared())
			leave();
		/* Perhaps it can't open its file any more. */
		if (pool_is_open())
			pool_reach_far();
	}
	process_unlock(&held);
}
