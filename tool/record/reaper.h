/* SPDX-License-Identifier: MIT */
/*
 * Families that end before the command does are looked at and trimmed when they end, by a thread of its own: a build
 * has thousands, and the time for each is mostly spent waiting until the disk has been told which blocks are free. All
 * of them at the end would take seconds.
 *
 * The drain's thread names the families; it waits for nothing here but the lock, which is never held while a family is
 * worked on. A family whose file a process has open, or perhaps mapped, is left for record_outcome(). The thread is
 * stopped before record_outcome() begins, so what both use is used by one at a time. Its signals are blocked.
 */
#ifndef XAUDIT_TOOL_RECORD_REAPER_H
#define XAUDIT_TOOL_RECORD_REAPER_H

#include <stdbool.h>

struct record_folder;

/*
 * Starts a thread that does for the families named by record_reaper_add() what record_outcome() does, until
 * record_reaper_stop(), which waits for the family at hand. If no thread can be started, all is left for
 * record_outcome().
 */
void record_reaper_start(const struct record_folder *folder);
void record_reaper_stop(void);

/* A family that seems to have ended. Any thread. */
void record_reaper_add(const char *name);

/* Was the family done, or is it being done? Any thread. */
bool record_reaper_has(const char *name);

#endif
