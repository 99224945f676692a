/* SPDX-License-Identifier: MIT */
/*
 * Counters of a thread: one word per function id, in runs, mapped like all of meta (pool.h). A run lies in the upper
 * half of the place of the process's head, if that is free and large enough, as a first chunk may; else in places of
 * its own. Half of its place, or places, has blocks from the beginning, so that meta takes half of its size on disk at
 * least. Only the trampolines add to counters; this part makes them (tramp_slow_count() of x86_64/contract.h).
 */
#ifndef XAUDIT_RUNTIME_COUNT_H
#define XAUDIT_RUNTIME_COUNT_H

#include "runtime/process/thread.h"

/*
 * The record was taken over from a thread that is gone: its counters are those of several threads. Process lock held.
 */
void count_thread_changed(struct thread *thread);

#endif
