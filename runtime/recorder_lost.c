/* SPDX-License-Identifier: MIT */
/* Why events are lost, by the errors that lose them. */
#include <errno.h> /* EFBIG */

#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/thread.h"
#include "x86_64/confined.h"

static enum trace_lost cause_of(long error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return TRACE_LOST_DISK;
	case EFBIG:
		return TRACE_LOST_FILE_SIZE;
	case RECORDER_FULL:
		return TRACE_LOST_SIZE_LIMIT;
	case EMFILE:
	case ENFILE:
		return TRACE_LOST_DESCRIPTORS;
	case EPERM:
		return confined() ? TRACE_LOST_FILTER : TRACE_LOST_RIGHTS;
	case EACCES:
	case EROFS:
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ESTALE:
		return TRACE_LOST_RIGHTS;
	case ENOMEM:
		return TRACE_LOST_MEMORY;
	case EOVERFLOW:
		return TRACE_LOST_OVERFLOW;
	case EBUSY: /* all places have custom events that are being written */
		return TRACE_LOST_CUSTOM;
	}
	return TRACE_LOST_OTHER;
}

enum trace_lost recorder_lose_for(struct thread *thread, long error)
{
	enum trace_lost cause = cause_of(error);

	if (process_head())
		process_head()->lost_error = (uint32_t)(error == -RECORDER_FULL ? EFBIG : -error);
	recorder_lose(thread, cause);
	return cause;
}

void recorder_lose(struct thread *thread, enum trace_lost cause)
{
	thread->lost++;
	process_lose(cause);
}
