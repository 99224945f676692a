/* SPDX-License-Identifier: MIT */
#include "runtime/recorder.h"

#include <errno.h>    /* ENOMEM */
#include <sys/mman.h> /* MAP_POPULATE */

#include "runtime/calls.h"
#include "runtime/clock.h"
#include "runtime/epoch.h"
#include "runtime/filter.h"
#include "runtime/handler.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/text.h"
#include "runtime/throttle.h"

#define RING_CHUNKS 8 /* of a flight recorder: the oldest is given up for the next */

static struct recorder_options options; /* mode and recording: process lock, or relaxed */
static int recording = 1;
static uint32_t takes_events = 1; /* what these two come to. Relaxed */

#define RETRY_TICKS 2000000000ull /* between attempts to get a chunk: about a second by TSC, two by CLOCK_MONOTONIC */

/* ---- writing from C ---- */

static int may_take(const struct tramp_state *hot, uint64_t address)
{
	return (address & hot->chunk_bit) != 0;
}

uint64_t tramp_window_mask;

_Static_assert(__builtin_offsetof(struct trace_chunk, written) == TRAMP_WRITTEN, "the trampolines count there");

/* n words at address are in place. One instruction, against our own signal handlers. */
static void wrote(uint64_t address, unsigned n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*tramp_written(address)) : "r"(8ul * n) : "cc", "memory");
}

/* Reserves room for n words as the fast path does: one instruction, against our own signal handlers. */
static uint64_t *reserve(struct tramp_state *hot, unsigned n)
{
	uint64_t address = 8 * n;

	__asm__ volatile("xadd %0, %1" : "+r"(address), "+m"(hot->cursor) : : "cc", "memory");
	if (may_take(hot, address + 8 * (n - 1)))
		return (uint64_t *)(uintptr_t)address;
	for (unsigned i = 0; i < n - 1; i++) /* what fits before the end stays a hole, and counts as done */
		if (may_take(hot, address + 8 * i))
			wrote(address + 8 * i, 1);
	return NULL;
}

/* A control event with one payload word. The event first: a reader takes a payload of 0 for not yet written. */
static int write_control(struct thread *thread, enum trace_control subtype, uint64_t clock, uint64_t payload)
{
	uint64_t *p = reserve(&thread->hot, 2);

	if (!p)
		return 0;
	/* Relaxed, volatile stores: the order matters to whoever reads the file after a kill; x86 keeps it. */
	__atomic_store_n(p, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(subtype, 1), clock), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: keeps the compiler from swapping the two stores */
	__atomic_store_n(p + 1, payload, __ATOMIC_RELAXED); /* relaxed, as above */
	wrote((uint64_t)(uintptr_t)p, 2);
	return 1;
}

/*
 * Many bytes at once, by vector registers, which come back as they were: the caller's caller may be a function whose registers are all in use. SSE instructions leave the
 * upper halves alone. The compiler knows nothing of these registers here.
 */
static void copy_in(void *to, const void *from, size_t size)
{
	uint8_t kept[4][16];

	if (size >= 64 && size <= 1024) {
		__asm__ volatile("movups %%xmm0, (%0)\n"
				 "movups %%xmm1, 16(%0)\n"
				 "movups %%xmm2, 32(%0)\n"
				 "movups %%xmm3, 48(%0)\n"
				 :
				 : "r"(kept)
				 : "memory");
		for (; size >= 64; size -= 64, to = (char *)to + 64, from = (const char *)from + 64) {
			__asm__ volatile("movups (%1), %%xmm0\n"
					 "movups 16(%1), %%xmm1\n"
					 "movups 32(%1), %%xmm2\n"
					 "movups 48(%1), %%xmm3\n"
					 "movups %%xmm0, (%0)\n"
					 "movups %%xmm1, 16(%0)\n"
					 "movups %%xmm2, 32(%0)\n"
					 "movups %%xmm3, 48(%0)\n"
					 :
					 : "r"(to), "r"(from)
					 : "memory");
		}
		__asm__ volatile("movups (%0), %%xmm0\n"
				 "movups 16(%0), %%xmm1\n"
				 "movups 32(%0), %%xmm2\n"
				 "movups 48(%0), %%xmm3\n"
				 :
				 : "r"(kept)
				 : "memory");
	}
	sys_copy(to, from, size);
}

/* ---- chunks ---- */

/* Reserves a window: a range of the chunk size that ends at a multiple of twice that. Returns its start or NULL. */
static uint8_t *reserve_window(uint64_t size)
{
	uint8_t *p = sys_mmap(NULL, 4 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_is_error(p))
		return NULL;
	uint64_t low = (uint64_t)(uintptr_t)p, high = low + 4 * size;
	uint64_t end = (low + size + 2 * size - 1) & ~(2 * size - 1), start = end - size;
	if (start > low)
		sys_munmap(p, start - low);
	sys_munmap((void *)(uintptr_t)end, high - end);
	return (uint8_t *)(uintptr_t)start;
}

/* Maps a chunk at the end of the window; a smaller one leaves its start, where a page of its own then keeps the count of written bytes. */
static struct trace_chunk *map_chunk(uint8_t *window, uint64_t size, int fd, uint64_t at)
{
	uint64_t window_size = process_chunk_size();

	if (size < window_size) {
		void *p = sys_mmap(window, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (sys_is_error(p))
			return p;
	}
	return sys_mmap(window + window_size - size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (int64_t)at);
}

/* From here on the chunk takes no events. */
static uint64_t boundary(const struct trace_chunk *chunk)
{
	return (uint64_t)(uintptr_t)chunk + chunk->size;
}

/* Events that are reserved in the chunk at hand but not written: somebody further out was interrupted. */
static uint64_t unwritten_events(const struct thread *thread)
{
	uint64_t end = thread->hot.cursor;

	if (!thread->chunk)
		return 0;
	if (!may_take(&thread->hot, end)) /* full: reservations behind the boundary never get written */
		end = boundary(thread->chunk);
	return (end - thread->chunk_start - *tramp_written(thread->chunk_start)) / 8;
}

static void finish_chunk(struct thread *thread)
{
	uint64_t end = thread->hot.cursor;

	if (!may_take(&thread->hot, end))
		end = boundary(thread->chunk);
	thread->chunk->used = end - (uint64_t)(uintptr_t)thread->chunk;
}

/* Nobody writes into the window's chunk any more: unmaps it, and keeps the range. */
static void release_window(uint8_t *window)
{
	sys_mmap(window, process_chunk_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Where a thread's next chunk goes. */
struct place {
	char kind; /* of file */
	uint64_t size, at;
};

static uint64_t ring_chunk(void)
{
	uint64_t size = options.ring / RING_CHUNKS;

	if (size < TRACE_CHUNK_MIN)
		size = TRACE_CHUNK_MIN;
	return size > process_chunk_size() ? process_chunk_size() : size;
}

static struct place next_place(const struct thread *thread)
{
	uint64_t seq = thread->next_chunk, size = ring_chunk();

	if (options.mode != TRACE_MODE_RING)
		return (struct place){ 't', trace_chunk_bytes(process_chunk_size(), seq), trace_chunk_at(process_chunk_size(), seq) };
	return (struct place){ 'r', size, seq % (options.ring / size) * size };
}

/* Gives the chunk a header; from here on readers see it. */
static void begin_chunk(struct trace_chunk *chunk, const struct thread *thread, uint64_t size, uint64_t now)
{
	chunk->version = TRACE_VERSION;
	chunk->head_size = sizeof(*chunk);
	chunk->seq = thread->next_chunk;
	chunk->pid = process_pid();
	chunk->tid = thread->tid;
	chunk->clock = now;
	chunk->size = size;
	sys_call(__NR_prctl, 16 /* PR_GET_NAME */, (long)chunk->comm, 0, 0, 0, 0);
	/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
	__atomic_store_n(&chunk->magic, TRACE_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

/*
 * The thread's chunk is full, or was taken from it (forced): finishes it, and lets go of its window. Somebody further out may still have to write
 * `unwritten` events there; then it stays mapped, and its window is not used again.
 */
static void leave_chunk(struct thread *thread, uint64_t unwritten)
{
	uint8_t **window = &thread->window[!(thread->next_chunk & 1)];

	throttle_look(thread->chunk);
	if (thread->forced) {
		/* Where it ends, and whether all is written, is not known for certain: readers go by the zeros, and it stays. */
		thread->forced = 0;
		*window = NULL;
		return;
	}
	finish_chunk(thread);
	if (!unwritten) {
		release_window(*window);
		return;
	}
	/* Its place in a flight recorder will be another chunk's: late events must not get there. */
	if (thread->chunk_kind == 'r') {
		thread->chunk->lost += unwritten;
		sys_mmap(*window, process_chunk_size(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
	*window = NULL;
}

/* The process's trace has its size: recording stops. */
static long stop_full(struct trace_head *head)
{
	char line[160];
	struct text text = { line, sizeof(line), 0 };

	text_string(&text, "the trace has reached its size limit of ");
	text_number(&text, options.size_limit);
	text_string(&text, " bytes; nothing more is recorded");
	process_say(line);
	process_change(TRACE_CHANGE_FULL, head->stream_bytes, NULL);
	recorder_set_recording(0);
	return -EFBIG;
}

/* Maps the thread's next chunk and directs the cursor to it. Signals are blocked, process lock held. */
static long next_chunk(struct thread *thread)
{
	struct place place = next_place(thread);
	struct trace_head *head = process_head();
	unsigned turn = thread->next_chunk & 1;
	uint64_t unwritten = thread->forced ? 0 : unwritten_events(thread);

	if (place.kind == 't' && options.size_limit && head->stream_bytes + place.size > options.size_limit)
		return recording ? stop_full(head) : -EFBIG;
	if (!thread->window[turn] && !(thread->window[turn] = reserve_window(process_chunk_size())))
		return -ENOMEM;
	int fd = process_open_thread(place.kind, recorder_number(thread), place.at, place.size);
	if (fd < 0)
		return fd;
	struct trace_chunk *chunk = map_chunk(thread->window[turn], place.size, fd, place.at);
	sys_close(fd);
	if (sys_is_error(chunk))
		return (long)(intptr_t)chunk;
	/* The pages are there already; one call (Linux 5.14) maps them all for writing. */
	sys_madvise(chunk, place.size, MADV_POPULATE_WRITE);
	sys_madvise(chunk, place.size, MADV_DONTDUMP);
	if (thread->chunk)
		leave_chunk(thread, unwritten);
	uint64_t now = clock_now();
	begin_chunk(chunk, thread, place.size, now);
	if (place.kind == 't')
		head->stream_bytes += place.size;
	thread->chunk = chunk;
	thread->chunk_kind = place.kind;
	thread->chunk_start = (uint64_t)(uintptr_t)(chunk + 1);
	thread->next_chunk++;
	thread->hot.span = (uint32_t)(now >> 31);
	thread->hot.chunk_bit = process_chunk_size();
	tramp_window_mask = -process_chunk_size(); /* the same for all threads and children */
	thread->hot.cursor = thread->chunk_start;
	thread->failed = 0;
	return 0;
}

unsigned recorder_number(struct thread *thread)
{
	if (!thread->has_number) {
		thread->number = process_head()->threads++;
		thread->has_number = 1;
	}
	return thread->number;
}

void recorder_lose_for(struct thread *thread, long error)
{
	if (process_head())
		process_head()->lost_error = (uint32_t)-error;
	recorder_lose(thread);
}

void recorder_lose(struct thread *thread)
{
	if (thread->chunk)
		thread->chunk->lost++;
	else if (process_head())
		process_count(&process_head()->lost, 1);
}

enum tramp_answer tramp_slow_event(void)
{
	static const uint64_t all = ~0ull;
	struct process_held held;
	uint64_t before;
	struct thread *thread = thread_get();

	if (!thread)
		return TRAMP_PASS;
	if (calls_is_stranger(thread, (uint64_t)(uintptr_t)__builtin_frame_address(0))) {
		process_lose();
		return TRAMP_PASS;
	}
	uint64_t now = clock_now();
	uint32_t span = (uint32_t)(now >> 31);
	if (may_take(&thread->hot, thread->hot.cursor)) {
		if (span != thread->hot.span && write_control(thread, TRACE_SYNC, now, now)) {
			thread->hot.span = span;
			process_clock();
		}
		/* Else a handler was here before us; or the chunk is full now, which the next round sees. */
		return TRAMP_AGAIN;
	}
	if (thread->failed && now - thread->failed < RETRY_TICKS) {
		/* Reservations in vain must not add up: at chunk_bit they would pass for good ones. */
		thread->hot.cursor = 0;
		recorder_lose(thread);
		return TRAMP_PASS;
	}
	/* From before the last look at the cursor to the end no handler may come in between. */
	sys_set_signals(&all, &before);
	long r = 0;
	/* Wiped: a handler has forked, and this is the child. It comes again with a record. */
	if (!thread_is_wiped(thread) && !may_take(&thread->hot, thread->hot.cursor)) {
		process_lock(&held);
		r = next_chunk(thread);
		epoch_reclaim(); /* what was held when it was retired: a program may close nothing more for long */
		process_unlock(&held);
		if (r) {
			thread->failed = now;
			thread->hot.cursor = 0;
			recorder_lose_for(thread, r);
		}
	}
	sys_set_signals(&before, NULL);
	process_clock();
	return r ? TRAMP_PASS : TRAMP_AGAIN;
}

void recorder_write(struct thread *thread, uint32_t word)
{
	for (;;) {
		uint64_t now = clock_now();
		if ((uint32_t)(now >> 31) == thread->hot.span) {
			uint64_t *p = reserve(&thread->hot, 1);
			if (p) {
				*p = (uint64_t)word << 32 | (uint32_t)now;
				wrote((uint64_t)(uintptr_t)p, 1);
				return;
			}
		}
		if (tramp_slow_event() == TRAMP_PASS)
			return;
	}
}

int recorder_custom(uint32_t type, const void *data, uint32_t size)
{
	const unsigned words = 1 + (size + 7) / 8;

	/* Relaxed: whoever stops or starts recording waits for nobody. */
	while (__atomic_load_n(&takes_events, __ATOMIC_RELAXED)) {
		/* Each time: in a slow path a handler may have forked, and this may be the child. */
		struct thread *thread = thread_self();
		if (!thread && !(thread = thread_get()))
			return -ECANCELED;
		uint64_t now = clock_now();
		/* Only where there is a chunk: long reservations in vain would soon add up to chunk_bit. */
		if ((uint32_t)(now >> 31) == thread->hot.span && may_take(&thread->hot, thread->hot.cursor)) {
			uint64_t *p = reserve(&thread->hot, 1 + words);
			if (p) {
				/* All but one word in advance: an event that has to be given up is one event. */
				wrote((uint64_t)(uintptr_t)p, words);
				/* Relaxed, and in this order, as in write_control(): who is killed on the way leaves a first word of 0. */
				__atomic_store_n(p, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, words), now), __ATOMIC_RELAXED);
				__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread: keeps the compiler from swapping stores */
				copy_in(p + 2, data, size);
				__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the same */
				__atomic_store_n(p + 1, (uint64_t)type << 32 | size, __ATOMIC_RELAXED); /* relaxed, as above */
				wrote((uint64_t)(uintptr_t)p, 1);
				return 0;
			}
		}
		if (tramp_slow_event() == TRAMP_PASS)
			return process_state() == PROCESS_ON ? -ENOSPC : -ECANCELED;
	}
	return -ECANCELED;
}

/* A control event, with a sync before it; where there is no room, nothing. Returns whether it was written. */
static int note(struct thread *thread, enum trace_control subtype, uint64_t payload)
{
	uint64_t now = clock_now();

	if (!thread->chunk || !may_take(&thread->hot, thread->hot.cursor) || !write_control(thread, TRACE_SYNC, now, now))
		return 0;
	thread->hot.span = (uint32_t)(now >> 31);
	return may_take(&thread->hot, thread->hot.cursor) && write_control(thread, subtype, now, payload);
}

void recorder_thread_changed(struct thread *thread)
{

	count_thread_changed(thread);
	/* Where there is no room, the next chunk's header names the thread. */
	note(thread, TRACE_THREAD, thread->tid);
}

void recorder_mark_crash(int signal)
{
	struct thread *thread = thread_self();

	if (thread)
		note(thread, TRACE_CRASH, (uint64_t)signal);
	process_clock();
}

/* ---- modes ---- */

/* What the trampolines do, and what the trace says about it. */
static void apply(void)
{
	enum handler_set set = !recording ? HANDLER_IDLE : options.mode == TRACE_MODE_COUNT ? HANDLER_COUNT : HANDLER_RECORD;

	handler_use(set, clock_source());
	/* Relaxed: threads see it soon enough. */
	__atomic_store_n(&takes_events, set == HANDLER_RECORD, __ATOMIC_RELAXED);
	recorder_describe();
}

void recorder_describe(void)
{
	struct trace_head *head = process_head();

	if (!head)
		return;
	head->mode = options.mode;
	head->recording = (uint32_t)recording;
	if (options.mode == TRACE_MODE_RING) {
		head->ring_chunk = ring_chunk();
		head->ring_size = options.ring;
	}
}

void recorder_state(uint32_t *mode, uint32_t *is_recording)
{
	*mode = options.mode;
	*is_recording = (uint32_t)recording;
}

const enum trace_mode *recorder_mode_place(void)
{
	return &options.mode;
}

const int *recorder_recording_place(void)
{
	return &recording;
}

void recorder_init(const struct recorder_options *wanted)
{
	options = *wanted;
	throttle_init(options.throttle);
	apply();
}

void recorder_clock_changed(void)
{
	apply();
}

void recorder_set_recording(int on)
{
	if (recording == on)
		return;
	recording = on;
	apply();
	process_change(on ? TRACE_CHANGE_STARTED : TRACE_CHANGE_STOPPED, 0, NULL);
}

/* Takes the chunk from a thread that is stopped: its next event makes it ask for another one. */
static void force(struct thread *thread)
{
	if (!thread->tid || !thread->chunk || !may_take(&thread->hot, thread->hot.cursor))
		return;
	thread->forced = 1;
	thread->hot.cursor = 0;
}

int recorder_set_mode(enum trace_mode mode, int stopped)
{
	if (mode > TRACE_MODE_COUNT)
		return -EINVAL;
	if (mode == options.mode)
		return 0;
	options.mode = mode;
	apply();
	process_change(TRACE_CHANGE_MODE, mode, NULL);
	if (stopped && mode != TRACE_MODE_COUNT)
		thread_each(force);
	return 0;
}

void recorder_finish(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		calls_unwind_all(thread);
	process_lock(&held);
	process_clock();
	if (process_head())
		process_head()->flags |= TRACE_EXITED;
	process_unlock(&held);
}
