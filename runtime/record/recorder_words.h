/* SPDX-License-Identifier: MIT */
/*
 * Events of several words: custom ones, and those with values (format/values.h), which can be taken back. They are
 * written whole, or not at all.
 *
 * Of an event with values the first word is stored as a reservation, which readers pass over; then the payload; then
 * the first word once more, as the event. (Trampolines have a shorter way: tramp_calls.h, STORE_LATE.) A handler in
 * between makes its events behind it. One that ends the chunk, or forks, has the event written again, elsewhere:
 * whoever ends a chunk gives up what is only reserved there (chunk.c).
 *
 * The calling thread's record, in any context; no lock; async-signal-safe, no libc.
 */
#ifndef XAUDIT_RECORDER_WORDS_H
#define XAUDIT_RECORDER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/process/thread.h"

/*
 * The backtrace of an event (format/chain.h): a key, and `words` words that are written behind the event where the
 * thread's chunk has not been told of the key: *told tells which key a chunk was told of last, of those that share that
 * word. for_good: the event won't be taken back, so it tells the chunk.
 */
struct recorder_chain {
	uint64_t key;
	uint64_t *told; /* the thread's own */
	const uint64_t *word;
	uint32_t words; /* 0: there is none */
	bool for_good;
};

/*
 * Writes a custom event, of up to TRACE_CUSTOM_MAX bytes, by the calling thread: whole in one chunk. on: the stack
 * that it is on; NULL: that does not matter. type and size may not both be 0. chain: its backtrace; NULL: it has none.
 * Returns 0, -ECANCELED when nothing is recorded now, -ENOSPC when it was lost.
 */
int recorder_custom(
	struct stack *on, uint32_t type, const void *data, uint32_t size, const struct recorder_chain *chain);

/* Are events recorded now? Else recorder_custom() returns -ECANCELED. */
bool recorder_is_on(void);

/* Where an event was written. */
struct recorder_place {
	uint64_t at;	/* of its first word; 0: nowhere */
	uint64_t event; /* its first word */
	uint64_t chunk; /* thread.next_chunk at that moment */
};

/*
 * Writes an event on the stack `on`. word: TRACE_WORD(TRACE_VALUED, ...), whose payload is so many words; plain: the
 * event without values, which is written where more is too deep inside of each other; word == plain: just that. now:
 * its clock; 0: it is read as late as can be. chain: NULL: it has none. Returns whether it is recorded; *place tells
 * where.
 */
bool recorder_values(struct thread *thread, struct stack *on, uint32_t plain, uint32_t word, const uint64_t *payload,
	const struct recorder_chain *chain, uint64_t now, struct recorder_place *place);

/* If it is the thread's last event, takes it back, as if it had never been. Returns whether it did. */
bool recorder_take_back(struct thread *thread, const struct recorder_place *place);

/* If its chunk is not ended, makes it no event: what came after it stays. Returns whether it did. */
bool recorder_give_up(struct thread *thread, const struct recorder_place *place);

#endif
