/* SPDX-License-Identifier: MIT */
/* Events of several words: custom ones, and those with values. */
#include "runtime/record/recorder_words.h"

#include <errno.h> /* ENOSPC */

#include "runtime/base/identity.h"
#include "runtime/process/clock.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/recorder_lost.h"
#include "runtime/record/recorder_private.h"
#include "x86_64/copy.h"

/*
 * The thread begins to write an event of several words, in a frame at `here`. Returns how many it is in the middle of;
 * THREAD_CUSTOMS: too many.
 */
static inline uint32_t begin(struct thread *thread, uint64_t here)
{
	uint32_t depth = thread_customs(thread);
	if (depth) {
		chunk_forget_left(thread, here);
		depth = thread_customs(thread);
	}
	if (depth == THREAD_CUSTOMS)
		return depth;
	/*
	 * By one store: a handler that comes before it takes the same entry, and has left it, or is gone by a jump:
	 * then this takes its place; one that comes after it finds a frame further out than its own.
	 */
	recorder_note(thread, depth, 0);
	__atomic_store_n(&thread->custom[depth].frame, here, __ATOMIC_RELAXED); /* relaxed, as above */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);				 /* no partner thread */
	return depth;
}

/* ---- backtraces of events ---- */

/* Whether an event tells its chunk what its backtrace is. */
struct telling {
	uint64_t chunk;	  /* thread.next_chunk before its words were reserved: they may come to lie in a later one */
	uint64_t as_told; /* what stands in *chain->told where that chunk was told */
	bool tells;	  /* the words go with the event */
	bool is_there;	  /* the event lies in that chunk */
};

/*
 * Asks whether the chunk was told. After a fork the chunks of the child are others, so an attempt asks once: what it
 * notes at its end, perhaps in a child, is of the process that it began in. A later thread that has the record goes on
 * with its numbers. chain NULL: nothing is to be told.
 */
static struct telling ask(const struct thread *thread, const struct recorder_chain *chain)
{
	/* Relaxed: the thread's own. */
	struct telling telling = { .chunk = __atomic_load_n(&thread->next_chunk, __ATOMIC_RELAXED) };

	if (!chain)
		return telling;
	telling.as_told = chain->key ^ (telling.chunk << 32 ^ identity_generation()) * 0x9e3779b97f4a7c15u;
	telling.tells = __atomic_load_n(chain->told, __ATOMIC_RELAXED) != telling.as_told; /* relaxed, as above */
	return telling;
}

/* The words are reserved. Returns false: in a chunk that has not been told, so the event is to be made once more. */
static bool is_known_there(const struct thread *thread, const struct recorder_chain *chain, struct telling *telling)
{
	/* Relaxed, as above. A handler that changes it a moment later does not move what is reserved. */
	telling->is_there = __atomic_load_n(&thread->next_chunk, __ATOMIC_RELAXED) == telling->chunk;
	return !chain || telling->tells || telling->is_there;
}

/* The event is whole. */
static void note_told(
	const struct thread *thread, const struct recorder_chain *chain, const struct telling *telling)
{
	if (telling->tells && telling->is_there && chain->for_good && !thread_is_wiped(thread))
		__atomic_store_n(chain->told, telling->as_told, __ATOMIC_RELAXED); /* relaxed, as above */
}

static void put_words(uint64_t at, const uint64_t *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		*(volatile uint64_t *)(uintptr_t)(at + 8ul * i) = words[i];
}

/* ---- custom events ---- */

/*
 * One attempt at a custom event, by a thread that has noted that it writes one: its words, then its data and its
 * backtrace, and the data's first word last, which makes it whole. Returns 0, an error, or 1: a handler ended the chunk
 * meanwhile, or this is a child that a handler forked.
 */
static int try_custom(struct thread *thread, uint32_t depth, struct stack *on, uint64_t first, const void *data,
	const struct recorder_chain *chain)
{
	const uint32_t size = (uint32_t)first, data_words = (size + 7) / 8;
	struct telling telling = ask(thread, chain);
	unsigned words = 1 + data_words + !!chain + (telling.tells ? chain->words : 0);
	uint32_t word = TRACE_WORD(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, words));
	uint64_t now = clock_now(), at = recorder_cursor(&thread->hot);

	recorder_note(thread, depth, at);
	if ((on && thread->hot.stack != &on->hot) ||
		!recorder_store(thread, at, now, (uint64_t)word << 32 | (uint32_t)now, 1 + words)) {
		recorder_note(thread, depth, 0);
		/* It may begin a chunk, which was told of nothing. */
		words += chain && !telling.tells ? chain->words : 0;
		telling.tells = chain;
		word = TRACE_WORD(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, words));
		at = recorder_try_slowly(thread, on, word, 1 + words);
		if (at == RECORDER_WIPED)
			return 1;
		if (!at)
			return process_state() == PROCESS_ON ? -ENOSPC : -ECANCELED;
	}
	/*
	 * While it is noted, no other chunk comes to lie there: this is the token that it was stored with. Another one,
	 * of a process that writes there what it likes, makes no event whole.
	 */
	uint64_t token = ((const struct trace_chunk *)(uintptr_t)(at & -chunk_size()))->token;
	if (thread_is_wiped(thread))
		return 1;
	if (!is_known_there(thread, chain, &telling)) {
		chunk_store(at + 8, token, CHUNK_CLOSED);
		return 1;
	}
	copy_in((void *)(uintptr_t)(at + 16), data, size);
	/* Behind the data the key, and where the chunk is told of it, what that stands for. */
	if (chain)
		put_words(at + 16 + 8ul * data_words, &chain->key, 1);
	if (telling.tells)
		put_words(at + 24 + 8ul * data_words, chain->word, chain->words);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: the data first */
	/* A child leaves it to its parent. */
	if (thread_is_wiped(thread))
		return 1;
	uint64_t found = chunk_store(at + 8, token, first);
	if (found != token && found != first)
		return 1;
	note_told(thread, chain, &telling);
	return 0;
}

/*
 * Is the caller a stranger (thread.h), in a frame at `here`? A thread that makes no other events has no stack that is
 * known, so the page that was looked at last is kept.
 */
static bool is_strangers(struct thread *thread, uint64_t here)
{
	/* No two stacks lie 2^44 bytes from each other. */
	uint32_t page = (uint32_t)(here >> 12);

	/* Relaxed, both: this thread's own, or a handler's on it. */
	if (__atomic_load_n(&thread->hot.known, __ATOMIC_RELAXED) == page)
		return false;
	enum thread_caller caller = thread_caller(thread, here);
	if (caller == THREAD_OWN)
		__atomic_store_n(&thread->hot.known, page, __ATOMIC_RELAXED); /* relaxed, as above */
	return caller == THREAD_STRANGER;
}

bool recorder_is_on(void)
{
	/* Relaxed: a thread that stops or starts recording does not wait for others. */
	return __atomic_load_n(&recorder_takes, __ATOMIC_RELAXED);
}

int recorder_custom(
	struct stack *on, uint32_t type, const void *data, uint32_t size, const struct recorder_chain *chain)
{
	int r = 1;

	while (r == 1 && recorder_is_on()) {
		/* Each time: a handler may have forked, and this may be the child. */
		struct thread *thread = thread_get();
		uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
		if (!thread || thread_is_muted(thread))
			return -ECANCELED;
		if (is_strangers(thread, here)) {
			process_lose(TRACE_LOST_STRANGER);
			return -ENOSPC;
		}
		uint32_t depth = begin(thread, here);
		if (depth == THREAD_CUSTOMS) {
			recorder_lose(thread, TRACE_LOST_CUSTOM);
			return -ENOSPC;
		}
		r = try_custom(thread, depth, on, (uint64_t)type << 32 | size, data, chain);
		chunk_end_custom(thread, depth);
	}
	return r == 1 ? -ECANCELED : r;
}

/* ---- values ---- */

/* Words of a valued event that is being written: its first word, and then what it becomes. */
#define RESERVED(words) TRACE_WORD(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, words))

/*
 * One attempt at an event with values, by a thread that has noted that it writes one: its first word as a reservation,
 * its payload, and the first word again, as the event that it is. Returns 0, an error, or 1, as try_custom().
 */
static int try_values(struct thread *thread, uint32_t depth, struct stack *on, uint32_t word, const uint64_t *payload,
	const struct recorder_chain *chain, uint64_t now, struct recorder_place *place)
{
	struct telling telling = ask(thread, chain);
	const unsigned values = TRACE_VALUED_WORDS(word), more = telling.tells ? chain->words : 0;
	const unsigned words = values + more;
	uint64_t clock = now ? now : clock_now(), at = recorder_cursor(&thread->hot);
	uint64_t reserved = (uint64_t)RESERVED(words) << 32 | (uint32_t)clock;

	recorder_note(thread, depth, at);
	if (thread->hot.stack != &on->hot || !recorder_store(thread, at, clock, reserved, 1 + words)) {
		recorder_note(thread, depth, 0);
		at = recorder_try_slowly(thread, on, RESERVED(words), 1 + words);
		if (at == RECORDER_WIPED)
			return 1;
		if (!at)
			return -ENOSPC;
		/* It has a clock of its own by now; or it was given up. */
		reserved = *(volatile uint64_t *)(uintptr_t)at;
		if (reserved >> 32 != RESERVED(words))
			return 1;
	}
	/* A child leaves it to its parent. */
	if (thread_is_wiped(thread))
		return 1;
	if (!is_known_there(thread, chain, &telling)) {
		cpu_swap_one((void *)(uintptr_t)at, reserved, TRACE_GIVEN_UP_OF(reserved));
		return 1;
	}
	word += more;
	put_words(at + 8, payload, values);
	if (more)
		put_words(at + 8 + 8ul * values, chain->word, more);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: the payload first */
	if (thread_is_wiped(thread))
		return 1;
	place->at = at;
	place->event = TRACE_EVENT(0, 0, reserved) | (uint64_t)word << 32;
	place->chunk = thread->next_chunk;
	uint64_t found = cpu_swap_one((void *)(uintptr_t)at, reserved, place->event);
	if (found != reserved && found != place->event)
		return 1;
	note_told(thread, chain, &telling);
	return 0;
}

/* recorder_values() of an event that is one word. Returns as try_values(). */
static int try_word(struct thread *thread, struct stack *on, uint32_t word, uint64_t now, struct recorder_place *place)
{
	uint64_t clock = now ? now : clock_now(), at = recorder_cursor(&thread->hot);

	place->event = (uint64_t)word << 32 | (uint32_t)clock;
	if (thread->hot.stack != &on->hot || !recorder_store(thread, at, clock, place->event, 1)) {
		at = recorder_try_slowly(thread, on, word, 1);
		if (at == RECORDER_WIPED)
			return 1;
		if (!at)
			return -ENOSPC;
		place->event = *(volatile uint64_t *)(uintptr_t)at;
	}
	place->at = at;
	place->chunk = thread->next_chunk;
	return 0;
}

bool recorder_values(struct thread *thread, struct stack *on, uint32_t plain, uint32_t word, const uint64_t *payload,
	const struct recorder_chain *chain, uint64_t now, struct recorder_place *place)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	int r = 1;

	for (; r == 1 && thread; thread = r == 1 ? thread_get() : thread) {
		uint32_t depth = word == plain ? THREAD_CUSTOMS : begin(thread, here);
		if (depth == THREAD_CUSTOMS) {
			r = try_word(thread, on, plain, now, place);
			continue;
		}
		r = try_values(thread, depth, on, word, payload, chain, now, place);
		if (!thread_is_wiped(thread))
			chunk_end_custom(thread, depth);
	}
	if (r)
		*place = (struct recorder_place){ 0 };
	return !r;
}

/* ---- taking back ---- */

/*
 * May the event there still be changed: is the chunk that it was written to the thread's present one? A handler may
 * have ended the chunk just before its number was noted; and in a forked child the record was wiped.
 */
static bool is_at_hand(const struct thread *thread, const struct recorder_place *place)
{
	return place->at && thread->next_chunk == place->chunk && chunk_has_room(&thread->hot, place->at) &&
	       place->at - (uint64_t)(uintptr_t)thread->chunk < chunk_size();
}

/*
 * Changes the event's first word to another one, if no handler ends the chunk meanwhile: that gives the event its
 * second number (chunk.h). Returns whether it did.
 */
static bool change(struct thread *thread, const struct recorder_place *place, uint64_t to)
{
	uint64_t outer = thread->taking, token = thread->hot.token, found;

	__atomic_store_n(&thread->taking, place->at, __ATOMIC_RELAXED); /* relaxed: this thread's own */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);			 /* no partner thread */
	/* The new word, or the token (recorder_take_back()): a forked child that is here as well came first. */
	found = is_at_hand(thread, place) ? cpu_swap_one((void *)(uintptr_t)place->at, place->event, to) : 0;
	__atomic_store_n(&thread->taking, outer, __ATOMIC_RELAXED); /* relaxed, as above */
	return found && (found == place->event || found == to || found == token);
}

bool recorder_give_up(struct thread *thread, const struct recorder_place *place)
{
	return change(thread, place, TRACE_PAYLOAD_OF(place->event) ? TRACE_GIVEN_UP_OF(place->event) : CHUNK_CLOSED);
}

/* Is it the thread's last event? */
static bool is_last(const struct thread *thread, const struct recorder_place *place)
{
	return is_at_hand(thread, place) &&
	       thread->hot.cursor == place->at + 8 + 8ul * TRACE_PAYLOAD_OF(place->event);
}

bool recorder_take_back(struct thread *thread, const struct recorder_place *place)
{
	uint64_t token = thread->hot.token, words = TRACE_PAYLOAD_OF(place->event);

	if (!is_last(thread, place) || !recorder_give_up(thread, place))
		return false;
	/*
	 * The words become empty, the first one last, so that no reader takes a value for an event. Then the cursor
	 * goes back. A handler that makes events in between makes them behind these words, which then stay, as holes.
	 * One that ends the chunk may fill its place anew, and a child that it forks leaves the words to its parent:
	 * what was read before such a handler is not there any more, and what is read after it stays.
	 */
	for (uint64_t i = words; i <= words; i--) {
		uint64_t found = *(volatile uint64_t *)(uintptr_t)(place->at + 8 * i);
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: read before it is looked at */
		if (!is_at_hand(thread, place))
			return true;
		cpu_swap_one((void *)(uintptr_t)(place->at + 8 * i), found, token);
	}
	cpu_swap_one(&thread->hot.cursor, place->at + 8 + 8 * words, place->at);
	return true;
}
