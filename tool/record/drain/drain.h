/* SPDX-License-Identifier: MIT */
/*
 * Writes full chunks of mode stream from meta to t<n>, in place of the threads that filled them (format/trace.h,
 * PUBLISHING). tool/record/drain_thread.c runs it; this part knows no threads, no clock and no waiting.
 *
 * What stands in a file of the trace was written by a program that an attacker may have taken over. So each number in
 * it is checked against bounds before it is used, and nothing is mapped: a file that shrinks is a short read here, no
 * SIGBUS. A chunk with a hole of the file in it is none. Folders and files must be this user's, plain, with one name,
 * the same ones as before, and reached through no link; names of files have one form.
 *
 * A chunk may be filled anew while it is read here: its thread does not wait. So it is copied piece by piece, and each
 * piece is written only if the chunk's head is still the same after the piece was read. A thread that fills a place
 * anew first gives the old chunk another number and writes it to t<n> itself, then takes the head's magic away
 * (runtime/record/chunk.c): the chunk may then be in t<n> twice.
 *
 * It keeps up to 193 descriptors (64 of them in heartbeat.h) and 2.5 MiB, however many families there are. There is one
 * in a process. Callers are one thread, or hold a lock.
 */
#ifndef XAUDIT_TOOL_RECORD_DRAIN_H
#define XAUDIT_TOOL_RECORD_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#define DRAIN_FAMILIES 4096 /* at a time; the one that was idle longest gives way */

/* What is read or written of a family's chunks before others have their turn; one more chunk may begin. */
#define DRAIN_CHUNKS 64
#define DRAIN_BYTES  (64ull << 20)

/* folder: a descriptor of the trace folder, which must stay. */
void drain_begin(int folder);

/*
 * Until the next drain_begin(): families whose chunks are larger are not looked after, and drain_run() returns early
 * when stops() says so, which is called before each chunk; NULL: it goes on.
 */
void drain_bound(uint64_t most, bool (*stops)(void));

/* Adds the family whose folder has this name. */
void drain_add(const char *name, uint64_t now);

/*
 * Does what is due, at most some 100 chunks. now: CLOCK_MONOTONIC, ns. Returns the time of the next call.
 */
uint64_t drain_run(uint64_t now);

/* Tells all families that chunks are not taken any more, and closes all descriptors. */
void drain_end(void);

/*
 * Sets what to call for a family with few places of which no process can be seen any more; NULL: nothing. drain_run()
 * calls it each time a family comes into that state. The family is still looked at as before, now and then.
 */
void drain_tell(void (*ended)(const char *name));

/*
 * Sets what to call for a family of which a process has asked for a snapshot (trace_head.asked) since the last time;
 * NULL: nothing. Where it returns false it is called once more, soon.
 */
void drain_tell_asked(bool (*asked)(const char *name));

/* Forgets the family, if it is known. */
void drain_remove(const char *name);

/* Chunks that were written since drain_begin(), and families that are looked after. */
uint64_t drain_chunks(void);
unsigned drain_families(void);

#endif
