/* SPDX-License-Identifier: MIT */
#include "runtime/record/count.h"

#include <errno.h>   /* ENOENT */
#include <stdbool.h>

#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/record/recorder_lost.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define PAGE 4096ul

/* Whole pages for so many ids. */
static uint64_t run_size(uint64_t ids)
{
	return (sizeof(struct trace_counts) + 8 * ids + PAGE - 1) & ~(PAGE - 1);
}

static uint64_t ids_in(uint64_t size)
{
	return (size - sizeof(struct trace_counts)) / 8;
}

/* Memory for a run: `size` bytes, of which the first `ready` can be stored to. */
struct room {
	struct trace_counts *counts;
	uint32_t first, places; /* places 0: the upper half of the head's */
	uint64_t size, ready;
};

/*
 * The half of the head's place, with room for `needed` bytes. Returns 0 or -errno; -ENOENT: it is too small, or taken.
 */
static long take_half(struct room *room, uint64_t needed)
{
	uint64_t size = pool_place_size() / 2;
	bool backed;
	long place = needed <= size ? process_take_half(&backed) : -ENOENT, r = 0;

	if (place < 0)
		return place;
	*room = (struct room){ .first = (uint32_t)place, .size = size, .ready = size };
	room->counts = (void *)((uint8_t *)pool_address(room->first) + size);
	if (!backed) {
		/* There each page takes a system call. */
		room->ready = confined() ? needed : size;
		r = pool_reserve(room->counts, room->ready, POOL_LATER);
	}
	if (r)
		process_give_half(false);
	return r;
}

/*
 * Places with room for twice `needed` bytes. Half of that has blocks: what the file had to grow by for one place, or
 * else the first half.
 */
static long take_places(struct thread *thread, struct room *room, uint64_t needed)
{
	uint64_t place = pool_place_size();
	uint32_t places = (uint32_t)((2 * needed + place - 1) / place);
	bool backed = false;
	long first = thread->count_spare && places == 1 ? (long)thread->count_spare
		     : places == 1		        ? pool_take_half(&backed)
							: pool_take(places);

	if (first < 0)
		return first;
	*room = (struct room){ pool_address((uint32_t)first), (uint32_t)first, places, places * place, needed };
	if (!backed && !confined())
		room->ready = room->size / 2;
	long r = pool_reserve(room->counts, room->ready, backed ? POOL_FEW : POOL_LATER);
	/* Of the least size it will do the next time, too. */
	if (places == 1)
		thread->count_spare = r ? room->first : 0;
	return r;
}

/*
 * A new run, with room for id and more. Returns how many bytes of it can be stored to, or -errno. Interrupted code may
 * still add to the run before.
 */
static long begin_run(struct thread *thread, uint64_t id)
{
	struct room room;
	long r = take_half(&room, run_size(id + 1));

	if (r == -ENOENT)
		r = take_places(thread, &room, run_size(id + 1));
	if (r)
		return r;
	struct trace_counts *counts = room.counts;
	counts->version = TRACE_VERSION;
	counts->head_size = sizeof(*counts);
	counts->pid = process_pid();
	counts->tid = thread->tid;
	counts->clock = clock_now();
	counts->size = thread->counts_size = room.size;
	counts->process = process_place();
	counts->thread = thread_trace_number(thread);
	if (!confined())
		sys_thread_name(counts->comm);
	/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
	__atomic_store_n(&counts->magic, TRACE_COUNTS_MAGIC, __ATOMIC_RELEASE);
	if (room.places)
		pool_name(room.first, room.places, TRACE_PLACE_COUNTS, process_place(), counts->thread);
	else
		pool_beside();
	thread->counts = counts;
	return (long)room.ready;
}

/*
 * Makes room for id: in the run at hand, as far as that goes; what is ready of it doubles. Signals blocked, lock held.
 */
static long extend(struct thread *thread, uint64_t id)
{
	struct trace_counts *counts = thread->counts;
	uint64_t limit = thread->hot.count_limit, old = counts ? run_size(limit) : 0, size = run_size(id + 1);
	long r = 0;

	if (counts && size <= thread->counts_size) {
		size = size > 2 * old ? size : 2 * old;
		size = size < thread->counts_size ? size : thread->counts_size;
		r = pool_reserve((uint8_t *)counts + old, size - old, POOL_FEW);
	} else if ((r = begin_run(thread, id)) > 0) {
		size = (uint64_t)r;
	}
	if (r < 0)
		return r;
	/*
	 * The address first: a handler sees a limit that the counters reach. x86 keeps the order; the fence is for the
	 * compiler.
	 */
	thread->hot.counts = (uint64_t)(uintptr_t)(thread->counts + 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread */
	thread->hot.count_limit = (uint32_t)ids_in(size);
	return 0;
}

void count_thread_changed(struct thread *thread)
{
	if (thread->counts && thread->counts->tid != thread->tid)
		thread->counts->tid = 0;
}

enum tramp_answer tramp_slow_count(uint64_t id)
{
	struct process_held held;
	struct thread *thread = thread_get();
	uint64_t before;
	long r = 0;

	if (!thread)
		return TRAMP_PASS;
	uint64_t now = clock_now();
	if (thread->count_failed && now - thread->count_failed < PROCESS_RETRY) {
		recorder_lose(thread, (enum trace_lost)thread->count_cause);
		return TRAMP_PASS;
	}
	sys_block_signals(&before);
	/* Wiped: a handler has forked, and this is the child. It comes again with a record. */
	if (!thread_is_wiped(thread) && id >= thread->hot.count_limit) {
		process_lock(&held);
		r = extend(thread, id);
		process_unlock(&held);
		thread->count_failed = r ? now : 0;
		if (r)
			thread->count_cause = recorder_lose_for(thread, r);
	}
	sys_set_signals(&before, NULL);
	return r ? TRAMP_PASS : TRAMP_AGAIN;
}
