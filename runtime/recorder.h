/* SPDX-License-Identifier: MIT */
/*
 * The recorder in stream mode: chunks of a thread file, one mapped at a time, and the slow paths of the trampolines (tramp.h).
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

/* Recording as a whole, on and off. Calls that are open when it stops still end in the trace. Lock held; any context. */
void recorder_set_recording(int on);

/*
 * Another mode, from now on: count at once; stream and ring when a thread's chunk is full, or at once when `stopped`: all other threads
 * are, by a tracer. Lock held; any context. Returns 0, or -EINVAL.
 */
int recorder_set_mode(enum trace_mode mode, int stopped);

/* The process is about to die by this signal: says so in the calling thread's events. In the signal's handler. */
void recorder_mark_crash(int signal);

/* The record was taken over from a thread that is gone: marks it in the chunk. Process lock held. */
void recorder_thread_changed(struct thread *thread);

/* The calling thread's frames will not return: ends all open calls on its stack as unwound. Returns the stack, or NULL. */
struct stack *recorder_unwind_all(struct thread *thread);

/* The calling thread ends the process by exit(): its open calls end, and the trace says so. Takes the process lock. */
void recorder_finish(void);

#endif
