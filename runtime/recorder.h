/* SPDX-License-Identifier: MIT */
/*
 * The recorder: chunks of a thread file, one mapped at a time, and the slow path of events of the trampolines (tramp.h).
 *
 * A chunk is a shared mapping of its file, placed so that one bit tells whether an address may take an event: it ends at B, a
 * multiple of twice the chunk size, so its addresses have that size's bit set, and those from B on have it clear, as has 0. The fast path reserves by xadd
 * on `cursor` and tests that bit of what it got; no limit is loaded, so a handler that changes chunks in between can't make
 * it believe that an address of the old chunk is one of the new. A chunk's place is also aligned to its size, and to that of large pages: with
 * its pages made by one write before, one page fault's worth of work maps it.
 *
 * Change of chunks: with all signals blocked. An interrupted fast path further out may hold a reserved slot of the old
 * chunk; its count of written bytes tells: it falls short of those reserved. Then the old chunk stays mapped for good. Otherwise it
 * is unmapped once the next one is there: two windows take turns. The count lies in the chunk's window, so who was interrupted counts where he
 * wrote.
 *
 * A flight recorder is the same with another file: its chunks take turns, the next one takes the place of the oldest. Where somebody further out still
 * has to write into a chunk that is left, that event is given up, so that it can't come to lie in another chunk.
 *
 * Lost events (no chunk to be had: disk full, no descriptor ...) are counted in the last chunk's header, or in trace_head when there was
 * none; a new chunk is tried for again at most once a second.
 */
#ifndef XAUDIT_RECORDER_H
#define XAUDIT_RECORDER_H

#include "runtime/thread.h"

/* What the rules say about recording. */
struct recorder_options {
	enum trace_mode mode;
	uint64_t ring;	     /* bytes of a thread's flight recorder */
	uint64_t size_limit; /* bytes of all t<n> of the process; 0: none */
	unsigned throttle;   /* percent; 0: off */
};

/* la_version: one thread. */
void recorder_init(const struct recorder_options *options);

/* A folder was begun: its head says which mode is on. Lock held. */
void recorder_describe(void);

/* The number of the thread's files, given now if it has none. Lock held. */
unsigned recorder_number(struct thread *thread);

/* Recording as a whole, on and off. Calls that are open when it stops still end in the trace. Lock held; any context. */
void recorder_set_recording(int on);

/* The trampolines are to read clock_source() from now on. Lock held; any context. */
void recorder_clock_changed(void);

/*
 * Another mode, from now on: count at once; stream and ring when a thread's chunk is full, or at once when `stopped`: all other threads
 * are, by a tracer. Lock held; any context. Returns 0, or -EINVAL.
 */
int recorder_set_mode(enum trace_mode mode, int stopped);

/* The process is about to die by this signal: says so in the calling thread's events. In the signal's handler. */
void recorder_mark_crash(int signal);

/* The record was taken over from a thread that is gone: marks it in the chunk. Process lock held. */
void recorder_thread_changed(struct thread *thread);

/* An event of the calling thread, from C: as the fast path does it, with as many rounds as it takes. */
void recorder_write(struct thread *thread, uint32_t word);

/*
 * An event of the program's own, of up to TRACE_CUSTOM_MAX bytes, by the calling thread: whole in one chunk. type and size may not both be 0. Returns 0,
 * -ECANCELED when nothing is recorded now, -ENOSPC when it was lost.
 */
int recorder_custom(uint32_t type, const void *data, uint32_t size);

/* Where the mode, and whether anything is recorded, stand for the life of the process: `xaudit ctl` reads them there (control.h). */
const enum trace_mode *recorder_mode_place(void);
const int *recorder_recording_place(void);

/* How the recording stands, by the calling program's own question. Lock held. */
void recorder_state(uint32_t *mode, uint32_t *is_recording);

/* One event of the thread, or one call that should have been counted, could not be. */
void recorder_lose(struct thread *thread);

/* The same, since a file could not be made or grown: error (-errno) is remembered for whoever asks why. */
void recorder_lose_for(struct thread *thread, long error);

/* The same for its counters (count.c). Lock held. */
void count_thread_changed(struct thread *thread);

/* The calling thread ends the process by exit(): its open calls end, and the trace says so. Takes the process lock. */
void recorder_finish(void);

#endif
