/* SPDX-License-Identifier: MIT */
/*
 * Counters of a thread: runs of places, mapped like all of meta (pool.h), one word per function id. Only the
 * trampolines add to them; this part makes them (tramp_slow_count() of x86_64/contract.h).
 */
#ifndef XAUDIT_RUNTIME_COUNT_H
#define XAUDIT_RUNTIME_COUNT_H

#include "runtime/process/thread.h"

/*
 * The record was taken over from a thread that is gone: its counters are those of several threads. Process lock held.
 */
void count_thread_changed(struct thread *thread);

#endif
