/* SPDX-License-Identifier: MIT */
/*
 * Pieces of the recorder, for recorder.c and recorder_words.c alone: as recorder.h tells. The calling thread's record,
 * in any context, no lock.
 */
#ifndef XAUDIT_RECORDER_PRIVATE_H
#define XAUDIT_RECORDER_PRIVATE_H

#include "runtime/record/chunk.h"
#include "runtime/record/recorder.h"
#include "x86_64/cpu.h"

/* Are events recorded now? Relaxed: a thread that stops or starts recording does not wait for others. */
extern uint32_t recorder_takes __attribute__((visibility("hidden")));

/* As the trampolines do it: by one instruction, because of our own signal handlers. */
static inline void recorder_move_cursor(struct tramp_state *hot, uint64_t bytes)
{
	cpu_add_one(&hot->cursor, bytes);
}

static inline uint64_t recorder_cursor(const struct tramp_state *hot)
{
	uint64_t cursor = __atomic_load_n(&hot->cursor, __ATOMIC_RELAXED); /* relaxed: this thread's own */

	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: what is looked at later is looked at later */
	return cursor;
}

/*
 * The event of several words that is being written, as the depth-th inside of each other, lies there; 0: nowhere yet.
 */
static inline void recorder_note(struct thread *thread, uint32_t depth, uint64_t at)
{
	/* Relaxed: this thread's own. */
	__atomic_store_n(&thread->custom[depth].address, at, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: before it is stored, and after */
}

/*
 * As the trampolines do it, where the cursor was. Returns whether it is stored. Inline, so that few instructions lie
 * between an event and what is noted of it.
 */
static inline __attribute__((always_inline)) int recorder_store(
	struct thread *thread, uint64_t at, uint64_t now, uint64_t event, unsigned words)
{
	struct tramp_state *hot = &thread->hot;
	uint64_t token = hot->token, read = __atomic_load_n(&hot->read, __ATOMIC_RELAXED); /* relaxed: our own */

	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: before the span */
	if ((uint32_t)(now >> 31) != hot->span || !chunk_has_room(hot, at) ||
		!chunk_has_room(hot, at + 8 * (words - 1)))
		return 0;
	/*
	 * As keep_reading(), but a handler that came in between knows better, another span perhaps. Before the event:
	 * who jumps away between that and what its caller notes of it leaves an end without a call.
	 */
	cpu_swap_one(&hot->read, read, now);
	uint64_t found = chunk_store(at, token, event);
	if (found == token)
		recorder_move_cursor(hot, 8 * words);
	return found == token || found == event;
}

#endif
