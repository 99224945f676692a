/* SPDX-License-Identifier: MIT */
#include "runtime/record/chunk.h"

#include <errno.h>    /* ENOMEM */
#include <stdbool.h>
#include <sys/mman.h> /* MAP_SHARED */

#include "runtime/files/pool.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/chunk_file.h"
#include "runtime/record/throttle.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define RING_CHUNKS   8 /* of a ring, if it is not too small: the oldest is given up for the next */
#define STREAM_PLACES 2u  /* in use, where the thread writes chunks; more if custom events are being written there */
#define FEW	      THREAD_FEW
#define LOOKED	      8u  /* among which the place of the next chunk is looked for when a chunk begins */
#define SCARCE	      8u  /* from so large a share of the family's places on no thread takes more than FEW */
#define SCARCE_FEW    2u  /* and from this on more than one */

/* No event is longer, whatever its word says: so none that is passed over leads into another place's chunk. */
#define EVENT_MOST (8 + 8 * TRACE_CUSTOM_WORDS)
_Static_assert(EVENT_MOST < TRACE_CHUNK_MIN, "behind a chunk there is no room for so long");

static uint64_t size; /* of a chunk; a power of two */
static uint64_t ring_places;
static enum trace_overflow when_full;

uint64_t chunk_init(uint64_t wanted, uint64_t ring)
{
	uint64_t most = ring / RING_CHUNKS;

	size = TRACE_CHUNK_MIN;
	while (2 * size <= wanted && 2 * size <= most)
		size *= 2;
	ring_places = ring / size < 2 ? 2 : ring / size;
	return size;
}

uint64_t chunk_size(void)
{
	return size;
}

uint64_t chunk_ring_size(void)
{
	return ring_places * size;
}

/* ---- taking events ---- */

void chunk_overflow(enum trace_overflow overflow)
{
	when_full = overflow;
}

/* Bytes of the event that begins with the word. Its payload may not be there yet. */
static uint64_t event_size(uint64_t word)
{
	uint64_t bytes = 8 + 8ul * TRACE_PAYLOAD_OF(word);

	return bytes < EVENT_MOST ? bytes : EVENT_MOST;
}

int chunk_pass_taken(struct thread *thread)
{
	struct tramp_state *hot = &thread->hot;

	for (;;) {
		/* Relaxed: this thread's own; each time anew, for a handler may have moved it. */
		uint64_t at = __atomic_load_n(&hot->cursor, __ATOMIC_RELAXED), token = hot->token;
		if (!chunk_has_room(hot, at))
			return 0;
		uint64_t word = __atomic_load_n((uint64_t *)(uintptr_t)at, __ATOMIC_RELAXED); /* relaxed, as above */
		if (word == token)
			return 1;
		uint64_t next = at + event_size(word);
		thread->passed = 1;
		/* Fails where a handler moved it. */
		cpu_swap_one(&hot->cursor, at, next);
	}
}

/* ---- ending a chunk ---- */

/*
 * Words that were passed over: interrupted code must not store there any more. And events of several words that are not
 * whole: they are written again, elsewhere.
 */
static void close_holes(uint64_t token, uint64_t from, uint64_t end)
{
	for (uint64_t at = from, word; at < end; at += event_size(word)) {
		word = chunk_store(at, token, CHUNK_CLOSED);
		if (TRACE_IS_LATE(word) && at + 8 < end && chunk_store(at + 8, token, CHUNK_CLOSED) == token)
			*(uint64_t *)(uintptr_t)at = TRACE_GIVEN_UP_OF(word);
		if (TRACE_TYPE_OF(word) != TRACE_CONTROL)
			continue;
		if (TRACE_CONTROL_SUBTYPE(TRACE_ID_OF(word)) == TRACE_CUSTOM && at + 8 < end)
			chunk_store(at + 8, token, CHUNK_CLOSED);
		else if (TRACE_CONTROL_SUBTYPE(TRACE_ID_OF(word)) == TRACE_RESERVED)
			cpu_swap_one((void *)(uintptr_t)at, word, TRACE_GIVEN_UP_OF(word));
	}
}

static void close_taking(struct thread *thread, uint64_t from, uint64_t end)
{
	uint64_t at = thread->taking;

	thread->taking = 0;
	if (at < from || at >= end)
		return;
	uint64_t word = *(const uint64_t *)(uintptr_t)at;
	if (TRACE_TYPE_OF(word) == TRACE_ENTRY)
		*(uint64_t *)(uintptr_t)at = word ^ (uint64_t)(TRACE_ENTRY ^ TRACE_ENTRY_KEPT) << 60;
	else if (TRACE_TYPE_OF(word) == TRACE_VALUED)
		*(uint64_t *)(uintptr_t)at = word ^ (uint64_t)TRACE_VALUED_KEPT << 32;
}

/* What is known of the thread's n-th place. */
static struct thread_place *known(const struct thread *thread, uint32_t place)
{
	return (thread->many ? thread->many : thread_kept(thread)->few) + place;
}

/* Is an event of several words being written in the chunk? */
static bool has_unfinished(const struct thread *thread, uint64_t chunk)
{
	for (uint32_t i = 0, n = thread_customs(thread); i < n; i++)
		if (thread->custom[i].address - chunk < size)
			return true;
	return false;
}

void chunk_finish(struct thread *thread)
{
	struct trace_chunk *chunk = thread->chunk;
	struct tramp_state *hot = &thread->hot;

	hot->chunk_bit = 0; /* no event finds room from here on */
	if (!chunk || known(thread, thread->place)->used)
		return;
	uint64_t first = (uint64_t)(uintptr_t)(chunk + 1), limit = (uint64_t)(uintptr_t)chunk + size;
	uint64_t end = hot->cursor < limit ? hot->cursor : limit;
	/* Interrupted code further out may have stored its event there, and not moved the cursor. */
	while (end < limit && chunk_store(end, hot->token, CHUNK_CLOSED) != hot->token) {
		end += event_size(*(const uint64_t *)(uintptr_t)end);
		thread->passed = 1;
	}
	end = end < limit ? end : limit;
	close_taking(thread, first, end);
	if (thread->passed || has_unfinished(thread, (uint64_t)(uintptr_t)chunk))
		close_holes(hot->token, first, end);
	thread->passed = 0;
	known(thread, thread->place)->used = (uint32_t)(end - (uint64_t)(uintptr_t)chunk);
	chunk->used = end - (uint64_t)(uintptr_t)chunk;
	throttle_look(chunk, size);
}

/* ---- files ---- */

static struct trace_chunk *chunk_in(const struct thread *thread, uint32_t place)
{
	return (struct trace_chunk *)(void *)((uint8_t *)pool_address(known(thread, place)->number) + size);
}

static struct trace_handover *handover_of(const struct thread *thread, uint32_t place)
{
	return pool_handover(known(thread, place)->number);
}

/* Is it to be in t<n>, and is not published? */
static bool is_due(const struct thread_place *known, enum trace_mode mode)
{
	return known->used && !known->copied && (mode == TRACE_MODE_STREAM || known->mode == TRACE_MODE_STREAM);
}

/* Has `xaudit record` written the published chunk? */
static bool is_written(const struct thread *thread, uint32_t place)
{
	/*
	 * Acquire; pairs with the write of `xaudit record`, which comes after its reading of the chunk: so it does not
	 * read words that are stored there from now on. It writes chunk->dense before.
	 */
	return __atomic_load_n(&handover_of(thread, place)->drained, __ATOMIC_ACQUIRE) == known(thread, place)->seq + 1;
}

/*
 * Must the chunk there be kept? It is in t<n> if it was not published, or if `xaudit record` says that it was
 * written.
 */
static bool is_kept(const struct thread *thread, uint32_t place, enum trace_mode mode)
{
	return is_due(known(thread, place), mode) || (known(thread, place)->handed && !is_written(thread, place));
}

static void give_number(struct thread *thread, uint32_t place)
{
	chunk_file_number(thread, chunk_in(thread, place), known(thread, place), size);
}

/* From now on `xaudit record` may write it to t<n>, too. */
static void hand_over(struct thread *thread, uint32_t place)
{
	if (!known(thread, place)->copied)
		give_number(thread, place);
	known(thread, place)->handed = 1;
	/* Release: a reader that sees it sees the chunk, with its number. Pairs with system calls of the other side. */
	__atomic_store_n(&handover_of(thread, place)->full, known(thread, place)->seq + 1, __ATOMIC_RELEASE);
	pool_handed();
}

/*
 * Publishes all chunks that the ring had, the present one too: the oldest first, in the order of t<n>. Else a
 * thread that writes none itself would never get their places back.
 */
static void hand_over_ring(struct thread *thread)
{
	for (uint32_t i = 0; i < thread->made; i++) {
		uint32_t place = (thread->oldest + i) % thread->made;
		if (is_due(known(thread, place), TRACE_MODE_STREAM))
			hand_over(thread, place);
	}
	thread->oldest = 0;
}

/*
 * Does `xaudit record` drain? Its heartbeat is compared with its value when a thread looked last. So a thread needs no
 * clock of the kernel, and it does not matter whether both have the same clock.
 */
static bool is_drained(uint64_t now)
{
	/* Relaxed, both: a thread that sees one without the other looks once more, with the next chunk. */
	static uint64_t known, since;
	uint64_t beat = pool_drain_beat();

	/* Relaxed, all three, as above. */
	if (beat && beat != __atomic_load_n(&known, __ATOMIC_RELAXED)) {
		__atomic_store_n(&since, now, __ATOMIC_RELAXED);
		__atomic_store_n(&known, beat, __ATOMIC_RELAXED);
	}
	/* Relaxed, as above. Another thread's may be a little later than ours. */
	return beat && (int64_t)(now - __atomic_load_n(&since, __ATOMIC_RELAXED)) < (int64_t)PROCESS_RETRY;
}

/*
 * The thread writes a published chunk itself. `xaudit record` may be writing it, to the place of its number:
 * then it gets another one. Where `record` takes no chunks it keeps it, since a number may be tried once a second.
 */
static void take_back(struct thread *thread, uint32_t place)
{
	known(thread, place)->handed = 0;
	/* Relaxed, and the fence: `record` writes its heartbeat before it looks here, and looks after the number. */
	__atomic_store_n(&handover_of(thread, place)->full, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with system calls of the other side */
	if (pool_drain_beat())
		give_number(thread, place);
}

/* Writes what must be kept there, but not again and again where it can't be done; then it is published. */
static long try_save(struct thread *thread, uint32_t place, uint64_t now)
{
	struct thread_place *at = known(thread, place);
	long r = confined() ? -EPERM : thread->save_error;

	if (!confined() && !(thread->save_failed && now - thread->save_failed < PROCESS_RETRY)) {
		if (at->handed)
			take_back(thread, place);
		if (!at->copied)
			give_number(thread, place);
		r = chunk_file_write(thread, chunk_in(thread, place), at, size);
		thread->save_failed = r ? now : 0;
		thread->save_error = (int32_t)r;
	}
	if (!r)
		/* Relaxed: it is 0, or an older chunk's. */
		__atomic_store_n(&handover_of(thread, place)->full, 0, __ATOMIC_RELAXED);
	else if (!at->handed)
		hand_over(thread, place);
	return r;
}

/* The chunk there will be overwritten: counts it, if `xaudit record` wrote it. */
static void count_written(const struct thread *thread, uint32_t place)
{
	if (known(thread, place)->handed && is_written(thread, place))
		chunk_file_count(known(thread, place), size, chunk_in(thread, place)->dense);
}

/*
 * Has room for so many places, or where there is no memory, or a filter of system calls, for fewer: at once,
 * or only when `few` is full, where it seldom will be. What was there before stays: it is a page at most, once.
 */
static void make_list(struct thread *thread, uint32_t *places, int at_once)
{
	struct thread_place *list = (struct thread_place *)(intptr_t)-EPERM;

	if (*places <= FEW || thread->many || (!at_once && thread->made < FEW))
		return;
	if (!confined())
		list = sys_mmap(NULL, ring_places * sizeof(*list), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(list)) {
		*places = FEW;
		return;
	}
	sys_copy(list, thread_kept(thread)->few, sizeof(thread_kept(thread)->few));
	thread->many = list;
}

/*
 * Takes a place for the thread, whose chunk can be stored to. A thread's first place is often not filled, and then
 * costs only the pages that are; that of the first thread is the one of its process's head.
 */
static long take_place(struct thread *thread, bool *used)
{
	bool first = !thread->made, backed = false;

	if (!thread->spare) {
		long taken = first ? process_take_half(&backed) : -ENOENT;
		if (taken < 0)
			taken = pool_take_any(used, first ? &backed : NULL);
		if (taken < 0)
			return taken;
		thread->spare = (uint32_t)taken | THREAD_SPARE | (*used ? THREAD_USED : 0);
	}
	*used = (thread->spare & THREAD_USED) != 0;
	uint32_t place = thread->spare & (TRACE_PLACE_MAX - 1);
	if (!backed) {
		enum pool_pages how = *used ? POOL_FEW : first ? POOL_LATER : POOL_NOW;
		long r = pool_reserve((uint8_t *)pool_address(place) + size, size, how);
		if (r)
			return r;
	}
	thread->spare = 0;
	return (long)place;
}

/*
 * Sets the thread's n-th place: one more, or in place of another one, whose chunk stays there for readers.
 */
static long set_place(struct thread *thread, uint32_t place)
{
	bool used = false;
	long taken = take_place(thread, &used);

	if (taken < 0)
		return taken;
	*known(thread, place) = (struct thread_place){ .number = (uint32_t)taken, .begun = used };
	thread->made += place == thread->made;
	return 0;
}

/* ---- beginning a chunk ---- */

/*
 * Was the frame left by a jump? Yes, if it lies at `here`, where our frame is, or below, on the same stack. Of other
 * stacks that is not known.
 */
static bool is_left(const struct thread *thread, uint64_t frame, uint64_t here)
{
	const struct stack *stack = (const struct stack *)thread->hot.stack;

	return stack && stack_has(stack, here) && stack_owns(stack, frame) && frame <= here;
}

void chunk_forget_left(struct thread *thread, uint64_t here)
{
	uint32_t n;

	/* A handler in between may forget them, too: then zeros are there. */
	while ((n = thread_customs(thread)) &&
		is_left(thread, thread->custom[n - 1].frame, here))
		chunk_end_custom(thread, n - 1);
}

/*
 * Is interrupted code further out writing a custom event there? It will go on with that, and give the event up at the
 * end.
 */
static bool is_being_written(const struct thread *thread, uint32_t place)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	uint64_t start = (uint64_t)(uintptr_t)chunk_in(thread, place);

	for (uint32_t i = 0, n = thread_customs(thread); i < n; i++)
		if (thread->custom[i].address - start < size && !is_left(thread, thread->custom[i].frame, here))
			return true;
	return false;
}

/*
 * The place for the next chunk in mode ring, of so many: they take turns, also after other modes. -EBUSY: none.
 */
static long next_in_ring(const struct thread *thread, uint32_t places)
{
	if (!thread->chunk)
		return 0;
	for (uint32_t i = 0; i < places; i++) {
		uint32_t place = (thread->oldest + i) % places;
		if (place >= thread->made)
			return thread->made;
		if (place != thread->place && !is_being_written(thread, place))
			return place;
	}
	/* There is only the present place, whose chunk is ended. */
	return is_being_written(thread, thread->place) ? -EBUSY : (long)thread->place;
}

/* Do the trampolines take it for the place of the next chunk? */
static bool is_ahead(const struct thread *thread, uint32_t place)
{
	return thread->hot.ahead &&
	       (intptr_t)chunk_in(thread, place) - (intptr_t)thread->chunk == thread->hot.ahead;
}

/* May a chunk of mode stream begin there? */
static bool is_free(const struct thread *thread, uint32_t place)
{
	return !is_being_written(thread, place) && !is_kept(thread, place, TRACE_MODE_STREAM);
}

/*
 * The place for the next chunk in mode stream: one where nothing must be kept, or a new one, up to `places`. -EBUSY:
 * none. *oldest: the place of the oldest chunk that must be kept, or -EBUSY.
 */
static long next_in_stream(const struct thread *thread, uint32_t places, long *oldest)
{
	uint64_t least = UINT64_MAX;

	*oldest = -EBUSY;
	for (uint32_t place = 0; place < thread->made && place < LOOKED; place++)
		if (is_ahead(thread, place) && is_free(thread, place))
			return place;
	/* Else from the first on, the one at hand last: so few are in use, and in the processor's cache. */
	for (uint32_t i = 0, at = thread->place; i < thread->made; i++) {
		uint32_t place = i + 1 == thread->made ? at : i < at ? i : i + 1;
		if (is_being_written(thread, place))
			continue;
		if (is_kept(thread, place, TRACE_MODE_STREAM)) {
			if (known(thread, place)->seq < least) {
				least = known(thread, place)->seq;
				*oldest = place;
			}
		} else if (place != at || thread->made >= STREAM_PLACES) {
			return place;
		}
	}
	return thread->made < places || (*oldest < 0 && thread->made < FEW) ? (long)thread->made : -EBUSY;
}

static void begin(struct thread *thread, uint32_t place, enum trace_mode mode, uint64_t now, uint32_t stack)
{
	struct trace_chunk *chunk = chunk_in(thread, place);
	struct thread_place *at = known(thread, place);
	uint64_t token = 0;
	char name[sizeof(chunk->comm)] = "";

	if (!confined())
		sys_thread_name(name);
	else if (thread->chunk)
		sys_copy(name, thread->chunk->comm, sizeof(name)); /* the name up to now */
	if (at->begun) {
		/* Release: a reader that sees what follows sees the old chunk gone. Pairs with its second look. */
		__atomic_store_n(&chunk->magic, 0, __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* later stores stay after it; pairs with that look, too */
		token = chunk_token(thread->next_chunk, process_place(), thread->number);
		sys_fill_words(chunk, 0, sizeof(*chunk) / 8);
		sys_fill_words(chunk + 1, token, (size - sizeof(*chunk)) / 8);
	}
	*at = (struct thread_place){ .number = at->number, .seq = thread->next_chunk, .mode = mode, .begun = 1 };
	chunk->version = TRACE_VERSION;
	chunk->head_size = sizeof(*chunk);
	chunk->seq = thread->next_chunk;
	chunk->pid = process_pid();
	chunk->tid = thread->tid;
	chunk->clock = now;
	chunk->size = size;
	chunk->token = token;
	chunk->mode = mode;
	chunk->process = process_place();
	chunk->thread = thread->number;
	chunk->stack = stack;
	chunk->lost = thread->lost;
	thread->lost = 0;
	sys_copy(chunk->comm, name, sizeof(name));
	/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
	__atomic_store_n(&chunk->magic, TRACE_CHUNK_MAGIC, __ATOMIC_RELEASE);
	if (mode == TRACE_MODE_STREAM)
		process_count_stream(size);
	thread->chunk = chunk;
	thread->next_chunk++;
	thread->hot.span = (uint32_t)(now >> 31);
	thread->hot.read = now;
	thread->hot.token = token;
	thread->hot.cursor = (uint64_t)(uintptr_t)(chunk + 1);
	thread->hot.chunk_bit = size;
}

/* A reader finds the chunk; from its first filling on. */
static void show(const struct thread *thread, uint32_t place)
{
	if (known(thread, place)->number == process_place())
		pool_beside();
	else
		pool_name(known(thread, place)->number, 1, TRACE_PLACE_CHUNK, process_place(), thread->number);
}

/*
 * The place for the next chunk, and whether it is new to the thread. The chunk that lies there need not be kept any
 * more. Returns -errno if there is no place.
 */
static long find_place(struct thread *thread, enum trace_mode mode, uint64_t now, int drained, int *fresh)
{
	int drops = drained && when_full == TRACE_OVERFLOW_DROP;
	uint32_t places = mode == TRACE_MODE_RING || drained ? (uint32_t)ring_places : STREAM_PLACES;
	long oldest = -EBUSY, r;

	make_list(thread, &places, mode == TRACE_MODE_RING || drops);
	long place = mode == TRACE_MODE_RING ? next_in_ring(thread, places) : next_in_stream(thread, places, &oldest);
	/* Other threads of the family may need it more: a thread that has one place can do with that. */
	if (mode == TRACE_MODE_STREAM && place > 0 && (uint32_t)place >= thread->made && oldest >= 0 &&
		pool_is_scarce((uint32_t)place >= FEW ? SCARCE : SCARCE_FEW))
		place = -EBUSY;
	if (place >= 0 && (uint32_t)place >= thread->made) {
		*fresh = 1;
		r = set_place(thread, (uint32_t)place);
		if (!r)
			return place;
		place = oldest < 0 ? r : -EBUSY;
	}
	if (place < 0 && oldest >= 0) {
		if (drops)
			return -EOVERFLOW;
		place = oldest;
	}
	if (place < 0)
		return place;
	*fresh = 0;
	if (is_kept(thread, (uint32_t)place, mode) && (r = try_save(thread, (uint32_t)place, now))) {
		if (set_place(thread, (uint32_t)place))
			return r;
		*fresh = 1;
	}
	return place;
}

/*
 * Tells the trampolines where the chunk after this one will be, if a place is free by now: one of the first few, as a
 * thread may have thousands that are full. Where it writes chunks itself they are in the near cache anyway.
 */
static void look_ahead(struct thread *thread, enum trace_mode mode, int drained)
{
	long place = mode == TRACE_MODE_RING ? next_in_ring(thread, (uint32_t)ring_places) : -EBUSY;
	int64_t ahead = 0;

	for (uint32_t i = 0; mode == TRACE_MODE_STREAM && drained && i < thread->made && i < LOOKED && place < 0; i++)
		if (i != thread->place && is_free(thread, i))
			place = i;
	if (place >= 0 && (uint32_t)place < thread->made)
		ahead = (intptr_t)chunk_in(thread, (uint32_t)place) - (intptr_t)thread->chunk;
	thread->hot.ahead = ahead == (int32_t)ahead ? (int32_t)ahead : 0;
}

long chunk_next(struct thread *thread, enum trace_mode mode, uint64_t now, uint32_t stack)
{
	int drained = is_drained(now), fresh;

	chunk_finish(thread);
	if (drained && mode == TRACE_MODE_STREAM && thread->oldest)
		hand_over_ring(thread);
	if (thread->chunk && is_due(known(thread, thread->place), mode)) {
		if (drained)
			hand_over(thread, thread->place);
		else
			/*
			 * While it is in the cache. What can't be written now is tried again when its place is needed.
			 */
			try_save(thread, thread->place, now);
	}
	thread_trace_number(thread);
	long place = find_place(thread, mode, now, drained, &fresh);
	if (place < 0)
		return place;
	thread->place = (uint32_t)place;
	if (mode == TRACE_MODE_RING)
		thread->oldest = (uint32_t)place + 1;
	if (!fresh)
		count_written(thread, (uint32_t)place);
	begin(thread, (uint32_t)place, mode, now, stack);
	look_ahead(thread, mode, drained);
	if (fresh)
		show(thread, (uint32_t)place);
	return 0;
}
