/* SPDX-License-Identifier: MIT */
#include "runtime/record/count.h"

#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder_lost.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#define PAGE	  4096ul
#define IDS_LEAST (65536 - sizeof(struct trace_counts) / 8) /* that a run has room for: half a mebibyte */

/* Whole pages for so many ids. */
static uint64_t run_size(uint64_t ids)
{
	return (sizeof(struct trace_counts) + 8 * ids + PAGE - 1) & ~(PAGE - 1);
}

static uint64_t ids_in(uint64_t size)
{
	return (size - sizeof(struct trace_counts)) / 8;
}

/*
 * A new run, with room for id and more, of which `ready` bytes can be stored to. Interrupted code may still add to the
 * run before.
 */
static long begin_run(struct thread *thread, uint64_t id, uint64_t ready)
{
	uint64_t ids = 4 * (id + 1) > IDS_LEAST ? 4 * (id + 1) : IDS_LEAST, place = pool_place_size();
	uint32_t places = (uint32_t)((run_size(ids) + place - 1) / place);
	long first = thread->count_spare ? (long)thread->count_spare : pool_take(places);

	if (first < 0)
		return first;
	struct trace_counts *counts = pool_address((uint32_t)first);
	long r = pool_reserve(counts, ready, POOL_FEW);
	if (r) {
		/* Of the least size it will do the next time, too. */
		if (ids == IDS_LEAST)
			thread->count_spare = (uint32_t)first;
		return r;
	}
	thread->count_spare = 0;
	counts->version = TRACE_VERSION;
	counts->head_size = sizeof(*counts);
	counts->pid = process_pid();
	counts->tid = thread->tid;
	counts->clock = clock_now();
	counts->size = thread->counts_size = places * place;
	if (!confined())
		sys_thread_name(counts->comm);
	/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
	__atomic_store_n(&counts->magic, TRACE_COUNTS_MAGIC, __ATOMIC_RELEASE);
	pool_name((uint32_t)first, places, TRACE_PLACE_COUNTS, process_place(), thread_trace_number(thread));
	thread->counts = counts;
	return 0;
}

/*
 * Makes room for id: in the run at hand, as far as that goes; what is ready of it doubles. Signals blocked, lock held.
 */
static long extend(struct thread *thread, uint64_t id)
{
	struct trace_counts *counts = thread->counts;
	uint64_t limit = thread->hot.count_limit, old = counts ? run_size(limit) : 0, size = run_size(id + 1);
	long r;

	if (counts && size <= thread->counts_size) {
		size = size > 2 * old ? size : 2 * old;
		size = size < thread->counts_size ? size : thread->counts_size;
		r = pool_reserve((uint8_t *)counts + old, size - old, POOL_FEW);
	} else {
		r = begin_run(thread, id, size);
	}
	if (r)
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
