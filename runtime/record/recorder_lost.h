/* SPDX-License-Identifier: MIT */
/* Events that are lost, and why, by the errors that lose them. On the thread itself. */
#ifndef XAUDIT_RUNTIME_RECORD_RECORDER_LOST_H
#define XAUDIT_RUNTIME_RECORD_RECORDER_LOST_H

#include "format/trace.h"
#include "runtime/process/thread.h"

/* Counts an event of the thread, or a call in mode count, that is lost. */
void recorder_lose(struct thread *thread, enum trace_lost cause);

/* recorder_lose() for an error (-errno). Returns the cause, for the losses that follow until the next attempt. */
enum trace_lost recorder_lose_for(struct thread *thread, long error);

#endif
