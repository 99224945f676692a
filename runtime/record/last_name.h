/* SPDX-License-Identifier: MIT */
/*
 * A thread's name is noted where a chunk of its begins, and where its counters do. Most threads name themselves first
 * of all, but after events that their libc's start made, or by a call that is itself traced: a thread that never fills
 * a chunk would keep the program's name. So the name is read once more when a thread ends.
 *
 * It is overwritten where it stands: of a chunk that takes events still, by two stores of 8 bytes each, between which a
 * reader may see half of either name. Where another thread began the chunk, or the counters, the name is that one's.
 *
 * Any context; async-signal-safe, no libc; general registers only.
 */
#ifndef XAUDIT_RUNTIME_LAST_NAME_H
#define XAUDIT_RUNTIME_LAST_NAME_H

#include "runtime/process/thread.h"

/* The calling thread ends, and this is its record; nothing is done if it is another task's. */
void last_name_note(struct thread *thread);

#endif
