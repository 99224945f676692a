/* SPDX-License-Identifier: MIT */
/*
 * The recorder: how events get into the chunks of their thread (chunk.h), from trampolines (x86_64/tramp.h) and from C.
 *
 * An event is stored where the cursor points, by one instruction, which does nothing unless the chunk's token is still
 * there; then the cursor moves on. Nothing is reserved before. So the event is stored if and only if this thread made
 * no other event since the cursor was loaded: a signal handler that made events, changed the chunk, forked, or lasted
 * for seconds, leaves its event there, or has changed nothing; the interrupted code then stores its own event after
 * that, in C, with a new clock and signals blocked. A handler that jumps away leaves nothing unfinished.
 *	- The cursor is loaded after the clock and before the span is compared: so the difference to the event before
 *	  is less than 2^31 ticks, whatever came in between. (A coarse clock: x86_64/tramp.h.)
 *	- The cursor moves by an addition. A handler that comes between the two instructions finds the word taken and
 *	  passes over it; then the addition passes over one word more: that word keeps the token, and is a hole.
 *	- A forked child that was made in between has its parent's addresses, of the same memory. If it comes first, it
 *	  stores the very event that its parent will store; the second of the two finds the event there, which counts
 *	  as stored.
 * On which stack an event is (TRACE_STACK). A word tells the reader that the events after it are on another stack than
 * the event before; tramp_state.stack is what the last such word, or the head of the chunk, said. Code that writes an
 * event loads it once more after the cursor: if it is the event's stack, and the cursor has not moved when the event is
 * stored, no handler changed to another stack in between. Code that changes the stack first sets it to NULL, so that a
 * handler that comes in between stores a word of its own stack; then that code stores the word, as an event; then the
 * new value, if the stack is still NULL. If a handler made events after the word, it begins again. Events of several
 * words are stored by their first word, like an event of one; the rest follows. Code that passes over the first word
 * knows from it how long they are.
 *
 * Lost events (no chunk could be made: disk full, no descriptor ...) are counted in trace_head, by cause, and once more
 * in the next chunk's header; a new chunk is tried for again at most once a second.
 */
#ifndef XAUDIT_RECORDER_H
#define XAUDIT_RECORDER_H

#include "runtime/process/thread.h"

/* What the rules say about recording. */
struct recorder_options {
	enum trace_mode mode;
	uint64_t size_limit; /* bytes of all chunks that the process began in mode stream; 0: none */
	unsigned throttle;   /* percent; 0: off */
	enum trace_overflow overflow;
	int coarse;	     /* the TSC is not read for each event (x86_64/tramp.h) */
};

/* la_version: one thread. */
void recorder_init(const struct recorder_options *options);

/* A folder was begun: its head says which mode is on. Lock held. */
void recorder_describe(void);

/*
 * Recording as a whole, on and off. Calls that are open when it stops still end in the trace. Lock held; any context.
 */
void recorder_set_recording(int on);

/* Something may start recording (runtime/values/actions.h): it is to be asked while recording is stopped. Lock held. */
void recorder_watch(void);

/* Lets the trampolines read clock_source() from now on. Lock held; any context. */
void recorder_clock_changed(void);

/*
 * Another mode, from now on: count at once; stream and ring when a thread's chunk is full, or at once if `stopped`,
 * which means that a tracer has stopped all other threads. Lock held; any context. Returns 0, or -EINVAL.
 */
int recorder_set_mode(enum trace_mode mode, int stopped);

/* The process will die by this signal: writes that into the calling thread's events. In the signal's handler. */
void recorder_mark_crash(int signal);

/* The record was taken over from a thread that is gone: marks it in the chunk. Lock held. */
void recorder_thread_changed(struct thread *thread);

/*
 * Writes an event of the calling thread, from C: as the fast path does it, with as many rounds as it takes. on: the
 * stack that the event is on; NULL: not known.
 */
void recorder_write(struct thread *thread, struct stack *on, uint32_t word);

/*
 * Writes an event after words that a handler has stored where the trampolines would have stored it. Returns 0 when the
 * thread's record was wiped meanwhile, and nothing was done: the caller tries again, with the record that the thread
 * has then.
 */
int recorder_write_slowly(struct thread *thread, struct stack *on, uint32_t word);

/* A handler has forked, and this is the child: it comes again with a record of its own. */
#define RECORDER_WIPED UINT64_MAX

/*
 * Stores the word with the clock's low half, and moves the cursor over `words` of them. No handler comes in between, so
 * this comes to an end however many there are. Only here is it looked at whether the caller is a stranger (thread.h):
 * an event that is stored at once is whole, whichever process stores it. Returns where, 0: it is lost, and counted; or
 * RECORDER_WIPED.
 */
uint64_t recorder_try_slowly(struct thread *thread, struct stack *on, uint32_t word, unsigned words);

/* The calling thread's events are on this stack from here on. */
void recorder_stack(struct thread *thread, struct stack *stack);

/*
 * Of the open calls of `stack`, all but the `kept` innermost belong to `upper` from here on, and the thread's events
 * are on `upper`, too. Signals blocked, lock not held.
 */
void recorder_part(struct thread *thread, struct stack *stack, struct stack *upper, uint32_t kept);

/*
 * As recorder_part(), where another thread is on `stack` now, and the calling one was not: so many calls are around
 * those that stay.
 */
void recorder_part_outer(
	struct thread *thread, struct stack *stack, struct stack *upper, uint32_t kept, uint32_t around);

/*
 * The addresses of the mode, and of whether anything is recorded, which don't change: `xaudit ctl` reads them there
 * (control.h).
 */
const enum trace_mode *recorder_mode_place(void);
const int *recorder_recording_place(void);

/* The state of the recording, for the program's own question. Lock held. */
void recorder_state(uint32_t *mode, uint32_t *is_recording);

#endif
