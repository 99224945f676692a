/* SPDX-License-Identifier: MIT */
/*
 * Writes full chunks of mode stream from meta to t<n>, in the stead of the threads that filled them (format/trace.h,
 * HANDING OVER). record_drain.c runs it; this part knows no threads, no clock and no waiting.
 *
 * What stands in a file of the trace was written by a program that somebody may have taken over. So nothing of it is
 * believed but within bounds, and nothing is mapped: a file that shrinks is a short read here, no SIGBUS. Folders and
 * files are this user's, plain, of one name, the same as before, and reached through no link; names of files have one
 * form.
 *
 * A chunk that is read may be filled anew meanwhile: its thread waits for nobody. So it is written piece by piece, and
 * each piece only if behind the reading of it the chunk's head is still the same. Whoever fills a place anew has taken
 * the head's magic away before (chunk.c), and has written the chunk to t<n> before that: then it is written twice.
 *
 * It keeps up to 192 descriptors (64 of them in drain_beat.h) and 1.5 MiB, whatever is asked of it. One in a process.
 * One thread, or a lock around it.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_H
#define XAUDIT_TOOL_RECORD_DRAIN_H

#include <stdint.h>

#define DRAIN_FAMILIES 4096 /* at a time; who was idle longest gives way */

/* folder: a descriptor of the trace folder, which must stay. */
void drain_begin(int folder);

/* There is a folder of a family with this name. */
void drain_add(const char *name, uint64_t now);

/*
 * Does what is due; never more than some 100 chunks. now: CLOCK_MONOTONIC, ns. Returns when it wants to be called next.
 */
uint64_t drain_run(uint64_t now);

/* Says that nobody is at it any more, and closes all that is open. */
void drain_end(void);

/*
 * Whom to tell of a family of which no process is to be seen any more, and that has few places; NULL: nobody. drain_run()
 * calls it, each time that this begins. The family is looked after as before, now and then.
 */
void drain_tell(void (*ended)(const char *name));

/* Looks after it no more, if it did. */
void drain_remove(const char *name);

/* Chunks that were written since drain_begin(), and families that are looked after. */
uint64_t drain_chunks(void);
unsigned drain_families(void);

#endif
