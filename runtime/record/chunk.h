/* SPDX-License-Identifier: MIT */
/*
 * Chunks: the memory that the events of a thread are stored to, and how they get from there into its file
 * (format/trace.h).
 *
 * A thread takes places of meta (pool.h) when it needs them. The first thread of a process that does gets that of the
 * process's head, whose upper half is free: so a process with one thread takes one place. Only `xaudit record` gives
 * other places back, when the process is gone (tool/record/drain/reclaim.h). A place that was somebody's is filled with
 * empty markers before a thread stores there, so a thread with few events pays for all pages of that chunk. Nothing is
 * mapped or unmapped while the thread runs. A chunk takes events until it is full. The next one then begins:
 *	- in mode ring, in the next place in turn, where it overwrites the oldest chunk;
 *	- in mode stream, while `xaudit record` drains, in a place whose chunk is written; else in a new one, up to the
 *	  ring's number (4 when places are scarce, 1 when they are very scarce); else the thread writes the oldest chunk
 *	  itself and takes its place, or drops events (overflow = drop);
 *	- in mode stream, while nobody drains, in one of two places, since the thread writes each full chunk at once,
 *	  while it is in the processor's cache.
 * Mode stream overwrites only what is written to t<n>. While `xaudit record` drains, the thread publishes full chunks
 * for it; else those that it could not write itself. Chunks of mode ring are published with the first one of mode
 * stream after them. A chunk has its number in t<n> before it is written. A thread that writes a published chunk itself
 * withdraws it first, and gives it another number if `xaudit record` may be writing it: so each part of t<n> has one
 * writer. If t<n> can't be opened or written, chunks stay where they are, and the next ones begin in new places, as
 * long as meta has room; the file is tried again about once a second.
 *
 * When a chunk begins, the place of the next one is chosen: in mode ring the next in turn, and where `xaudit record`
 * takes chunks one of the first few, if one is free by then. Trampolines fetch its memory, line by line, as they fill
 * the chunk (tramp_state.ahead). Nobody else writes there meanwhile. If it can't be used after all, another one is.
 *
 * Places are as large as two chunks; the chunk is the upper half, so it ends at B, a multiple of twice its size. In all
 * addresses of the chunk the bit of that size is set; in those from B on, as far as any event reaches, it is clear, as
 * in 0. So the fast path need not load a limit, which could be another chunk's by the time that it is used.
 *
 * Words without an event yet hold the chunk's token: a hole that no other chunk in the place had (trace_chunk.token).
 * Events are stored by comparing with it (recorder.h), so a thread that was interrupted, and comes back to a place
 * that was filled anew, stores nothing; nor does a forked child, whoever has filled it. Data of a custom event is
 * stored without: a child that a handler forks amid that, and that stays in the handler until its parent is gone and
 * the place another thread's, spoils events there.
 *
 * Code that finishes a chunk closes it against interrupted code further out on its stack: the word where the next event
 * would have gone, and the words that were passed over, get another value; an entry that is about to be taken back gets
 * its second number; an event of several words that is not whole is given up.
 *
 * Other processes of the family can write to a chunk, or to its words for publishing, whatever they like. So a thread
 * knows by itself what is in its places (struct thread_place), and how far a chunk reaches; of what is shared it reads
 * events' words, whose lengths are bounded, `drained` and `dense`: a wrong one costs events.
 *
 * All functions are called by the thread itself, with all signals blocked; no lock. Async-signal-safe, no libc.
 */
#ifndef XAUDIT_CHUNK_H
#define XAUDIT_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "runtime/process/thread.h"
#include "x86_64/cpu.h"

/* A closed word: a hole, no chunk's token, and no custom event's first word of data. */
#define CHUNK_CLOSED ((uint64_t)TRACE_TOKEN)

/*
 * Chunks of all threads have one size: the largest power of two that is at most `wanted`, and at most an eighth of a
 * thread's ring (in bytes). Returns it. Before the first event.
 */
uint64_t chunk_init(uint64_t wanted, uint64_t ring);
uint64_t chunk_size(void);

/* What becomes of events that have no place. Before the first event. */
void chunk_overflow(enum trace_overflow overflow);

/* Bytes of a thread's ring: a multiple of chunk_size(). */
uint64_t chunk_ring_size(void);

static inline bool chunk_has_room(const struct tramp_state *hot, uint64_t address)
{
	return (address & hot->chunk_bit) != 0;
}

/* Of a filling of a place: another one than that of fillings before, by whichever process and thread. */
static inline uint64_t chunk_token(uint64_t filling, uint32_t process, uint32_t thread)
{
	uint64_t owner = (process * 0x9e3779b97f4a7c15ull + thread) * 0xd1342543de82ef95ull >> 36;

	return ((filling + owner) % TRACE_ID_MASK + 1) << 32 | TRACE_TOKEN;
}

/*
 * Stores an event at an address if the token lies there, by one instruction. Returns the old value: the token, or a
 * word that other code stored; then nothing was done.
 */
static inline uint64_t chunk_store(uint64_t address, uint64_t token, uint64_t event)
{
	return cpu_swap_one((void *)(uintptr_t)address, token, event);
}

/*
 * The event of several words that is the depth-th inside of each other is written, or given up; and those inside of it,
 * which a handler has left by a jump.
 */
static inline void chunk_end_custom(struct thread *thread, uint32_t depth)
{
	for (uint32_t i = THREAD_CUSTOMS; i-- > depth;) {
		/* Relaxed, both: this thread's own. */
		__atomic_store_n(&thread->custom[i].address, 0, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread */
		__atomic_store_n(&thread->custom[i].frame, 0, __ATOMIC_RELAXED);
	}
}

/*
 * Moves the cursor over words that are taken. Returns whether there is room then. Needs no signals blocked.
 */
int chunk_pass_taken(struct thread *thread);

/*
 * Gives up custom events that were being written by frames which a jump has left. here: address of the frame of the
 * caller, which is about to write one. Needs no signals blocked.
 */
void chunk_forget_left(struct thread *thread, uint64_t here);

/* Ends the thread's chunk, if it has one that is not ended: it takes no more events. */
void chunk_finish(struct thread *thread);

/*
 * Goes on to the next chunk: ends the present one, writes it to t<n> if that is due, and lets the cursor point into the
 * next, which begins on the stack of that number. Returns 0, or -errno; then the thread has no chunk that takes events.
 */
long chunk_next(struct thread *thread, enum trace_mode mode, uint64_t now, uint32_t stack);

#endif
