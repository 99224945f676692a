/* SPDX-License-Identifier: MIT */
/*
 * The thread that writes full chunks in place of the threads that filled them (drain/drain.h), and the one that writes
 * the heartbeat meanwhile (drain/heartbeat.h). The first learns of new families by inotify, or, if that fails, by
 * looking at the folder now and then.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_THREAD_H
#define XAUDIT_TOOL_RECORD_DRAIN_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct record_folder;

/*
 * Starts a thread that does so for all families in the folder, until record_drain_stop(). If that fails it says so in
 * one line: then threads write their own chunks. chunk: their size, at most. The folder must stay. Called once in a
 * process.
 */
void record_drain_start(const struct record_folder *folder, uint64_t chunk);

/* Does nothing if no thread drains. Chunks that were not written by then stay in meta. */
void record_drain_stop(void);

/*
 * Is it certain that no process can write to the family any more? folder: its descriptor. If so, the drain forgets the
 * family. Not to be called by the drain's own thread.
 */
bool record_drain_leave(const char *name, int folder);

#endif
