/* SPDX-License-Identifier: MIT */
/*
 * Makes the snapshots that actions of traced programs ask for (runtime/snapshot/ask.h), while their threads go on:
 * trace_head.ask says how often, by which name, and how many at most in a time; and those of calls that have not
 * returned (running.h), which count in the same way. tool/record/asked_thread.c runs it, beside a command, and
 * tool/ctl/watch.c, beside a process that runs without one; this part knows no threads.
 *
 * What stands in the heads was written by a program that an attacker may have taken over. So a name is taken only if it
 * is a plain one, of a new folder beside the trace, of which two never have the same; between two snapshots there is a
 * pause, and there is a most for all of them; and copies are made by runtime/snapshot/copy.h, which believes nothing
 * either, and end. A wrong limit, or a wrong count, costs snapshots, or gives some that nobody wanted.
 *
 * A limit counts for its name, whichever process of the command asks. What is asked for within the time is dropped;
 * what comes in the pause, or while a copy is being made, has one snapshot afterwards.
 *
 * One thread, after asked_begin(). It keeps one descriptor at a time, and at most 1.2 MB, besides those of running.h.
 */
#ifndef XAUDIT_TOOL_RECORD_ASKED_ASKED_H
#define XAUDIT_TOOL_RECORD_ASKED_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#define ASKED_PAUSE 100000000ull /* ns, between two snapshots */
#define ASKED_MOST  10000 /* with those that fail */

/* folder: a descriptor of the trace folder; path: its path, from the root; speaker: who tells of errors. All stay. */
void asked_begin(int folder, const char *path, const char *speaker);

/*
 * Looks at the heads of the family of this name, and makes what they ask for, but for the pause: returns 0, or the time
 * when it is to be called again for what is left. now: CLOCK_MONOTONIC, ns.
 */
uint64_t asked_look(const char *family, uint64_t now);

/*
 * Looks whether it is time to look for calls that have not returned, of the processes that asked_look() has met, and
 * has wanted() called for families that are to be looked at by asked_look() then. Returns the time of the next look;
 * UINT64_MAX: none of them has such actions.
 */
uint64_t asked_watch(uint64_t now, bool (*wanted)(const char *family));

/* What the family has asked for up to now is left to who was there before. */
void asked_skip(const char *family);

/* Has it called, with the path, for each that was made. */
void asked_tell(void (*made)(const char *path));

/* How many were made that nobody was told of; *last: the path of the last one. */
unsigned asked_made(const char **last);

#endif
