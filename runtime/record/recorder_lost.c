/* SPDX-License-Identifier: MIT */
#include "runtime/record/recorder_lost.h"

#include <errno.h> /* EFBIG */

#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/process/thread.h"

enum trace_lost recorder_lose_for(struct thread *thread, long error)
{
	enum trace_lost cause = process_cause(error);

	if (process_head())
		process_head()->lost_error = (uint32_t)(error == -PROCESS_FULL ? EFBIG : -error);
	recorder_lose(thread, cause);
	return cause;
}

void recorder_lose(struct thread *thread, enum trace_lost cause)
{
	thread->lost++;
	process_lose(cause);
}
