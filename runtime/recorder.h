/* SPDX-License-Identifier: MIT */
/*
 * The recorder: how events get into the chunks of their thread (chunk.h), from trampolines (x86_64/tramp.h) and from C.
 *
 * An event is stored where the cursor points, by one instruction, which does nothing unless the chunk's token is there
 * still; then the cursor moves on. Nothing is reserved before. So it is stored if and only if no other event of this
 * thread was since the cursor was loaded: a signal handler that made events, changed the chunk, forked, or lasted for
 * seconds, leaves its event there, or has changed nothing; who was interrupted stores its own behind that in C, with a
 * new clock and signals blocked. A handler that jumps away leaves nothing behind.
 *	- The cursor is loaded behind the clock and before the span is compared: so the difference to the event before
 *	  is less than 2^31 ticks, whatever came in between.
 *	- The cursor moves by an addition. A handler that came between the two instructions finds its place taken and
 *	  passes over it; so does the addition then, once more: a word that holds the token stays behind, which is a
 *	  hole.
 *	- A forked child that was made in between has its parent's addresses, of the same memory. If it comes first, it
 *	  stores the very event that its parent is about to store; who comes second finds it there, which counts as
 *	  stored.
 * On which stack an event is (TRACE_STACK). A word tells the reader where another one begins than the event before was
 * on; tramp_state.stack is what the last such word said, or the head of the chunk. Who writes an event loads it once
 * more behind the cursor: where it is its own stack, and the cursor has not moved when the event is stored, no handler
 * came to another one in between. Who changes it has it NULL meanwhile, so that a handler that comes in between says
 * its own stack; then stores the word, as an event; then the new value, if it is NULL still. If somebody made events
 * behind the word, it begins again.
 * Events of several words are stored like one, by their first; the rest follows. Who passes over the first knows from
 * it how long they are.
 *
 * Lost events (no chunk to be had: disk full, no descriptor ...) are counted in trace_head, by cause, and once more in
 * the next chunk's header; a new chunk is tried for again at most once a second.
 */
#ifndef XAUDIT_RECORDER_H
#define XAUDIT_RECORDER_H

#include "runtime/thread.h"

/* Between attempts to get what could not be had, in ticks: about a second by TSC, two by CLOCK_MONOTONIC. */
#define RECORDER_RETRY 2000000000ull

/* What the rules say about recording. */
struct recorder_options {
	enum trace_mode mode;
	uint64_t size_limit; /* bytes of all chunks that the process began in mode stream; 0: none */
	unsigned throttle;   /* percent; 0: off */
	enum trace_overflow overflow;
	int coarse;	     /* the TSC is not read for each event (x86_64/contract.h) */
};

/* la_version: one thread. */
void recorder_init(const struct recorder_options *options);

/* A folder was begun: its head says which mode is on. Lock held. */
void recorder_describe(void);

/*
 * Recording as a whole, on and off. Calls that are open when it stops still end in the trace. Lock held; any context.
 */
void recorder_set_recording(int on);

/* The trampolines are to read clock_source() from now on. Lock held; any context. */
void recorder_clock_changed(void);

/*
 * Another mode, from now on: count at once; stream and ring when a thread's chunk is full, or at once when `stopped`:
 * all other threads are, by a tracer. Lock held; any context. Returns 0, or -EINVAL.
 */
int recorder_set_mode(enum trace_mode mode, int stopped);

/* The process is about to die by this signal: says so in the calling thread's events. In the signal's handler. */
void recorder_mark_crash(int signal);

/* The record was taken over from a thread that is gone: marks it in the chunk. Lock held. */
void recorder_thread_changed(struct thread *thread);

/*
 * An event of the calling thread, from C: as the fast path does it, with as many rounds as it takes. on: the stack that
 * it is on; NULL: not known.
 */
void recorder_write(struct thread *thread, struct stack *on, uint32_t word);

/*
 * The same behind whatever lies where the trampolines would have stored it. Returns 0 when the thread's record was
 * wiped meanwhile, and nothing was done: then again, with the record that it has by then.
 */
int recorder_write_slowly(struct thread *thread, struct stack *on, uint32_t word);

/* The calling thread's events are on this stack from here on. */
void recorder_stack(struct thread *thread, struct stack *stack);

/*
 * The same: of the open calls of `stack`, all but the `kept` innermost ones are those of `upper` now, and so are the
 * thread's events. Signals blocked, lock not held.
 */
void recorder_part(struct thread *thread, struct stack *stack, struct stack *upper, uint32_t kept);

/*
 * An event of the program's own, of up to TRACE_CUSTOM_MAX bytes, by the calling thread: whole in one chunk. type and
 * size may not both be 0. Returns 0, -ECANCELED when nothing is recorded now, -ENOSPC when it was lost.
 */
int recorder_custom(uint32_t type, const void *data, uint32_t size);

/*
 * Where the mode, and whether anything is recorded, stand for the life of the process: `xaudit ctl` reads them there
 * (control.h).
 */
const enum trace_mode *recorder_mode_place(void);
const int *recorder_recording_place(void);

/* How the recording stands, by the calling program's own question. Lock held. */
void recorder_state(uint32_t *mode, uint32_t *is_recording);

/* One event of the thread, or one call that should have been counted, could not be. */
void recorder_lose(struct thread *thread, enum trace_lost cause);

/* The same for an error (-errno). Returns the cause, for those that follow until it is tried again. */
enum trace_lost recorder_lose_for(struct thread *thread, long error);

#endif
