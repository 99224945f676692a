/* SPDX-License-Identifier: MIT */
/* Counters of a thread: c<n>, mapped as a whole (recorder.h). */
#include <sys/mman.h> /* PROT_READ */

#include "runtime/clock.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/sys.h"

#define PAGE	    4096ul
#define RETRY_TICKS 2000000000ull /* as in recorder.c */

static uint64_t file_size(uint64_t ids)
{
	return (sizeof(struct trace_counts) + 8 * ids + PAGE - 1) & ~(PAGE - 1);
}

/*
 * Makes the file large enough for id, and maps it once more: who was interrupted may hold the old address, so that mapping stays; it is the same
 * pages. The size doubles, so all mappings together are twice the last. Signals blocked, lock held.
 */
static long extend(struct thread *thread, uint64_t id)
{
	uint64_t limit = thread->hot.count_limit, old = limit ? file_size(limit) : 0;
	uint64_t size = file_size(id + 1 > 2 * limit ? id + 1 : 2 * limit);
	int fd = process_open_thread('c', recorder_number(thread), old, size - old, 1);

	if (fd < 0)
		return fd;
	struct trace_counts *counts = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sys_close(fd);
	if (sys_is_error(counts))
		return (long)(intptr_t)counts;
	if (!limit) {
		counts->version = TRACE_VERSION;
		counts->head_size = sizeof(*counts);
		counts->pid = process_pid();
		counts->tid = thread->tid;
		counts->clock = clock_now();
		sys_call(__NR_prctl, 16 /* PR_GET_NAME */, (long)counts->comm, 0, 0, 0, 0);
		/* Release: a reader that sees the magic sees the header. Pairs with the reader's acquire load of it. */
		__atomic_store_n(&counts->magic, TRACE_COUNTS_MAGIC, __ATOMIC_RELEASE);
	}
	thread->counts = counts;
	/* The address first: a handler sees a limit that the counters reach. x86 keeps the order; the fence is for the compiler. */
	thread->hot.counts = (uint64_t)(uintptr_t)(counts + 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* no partner thread */
	thread->hot.count_limit = (uint32_t)((size - sizeof(*counts)) / 8);
	return 0;
}

void count_thread_changed(struct thread *thread)
{
	if (thread->counts && thread->counts->tid != thread->tid)
		thread->counts->tid = 0;
}

enum tramp_answer tramp_slow_count(uint64_t id)
{
	static const uint64_t all = ~0ull;
	struct process_held held;
	struct thread *thread = thread_get();
	uint64_t before;
	long r = 0;

	if (!thread)
		return TRAMP_PASS;
	uint64_t now = clock_now();
	if (thread->count_failed && now - thread->count_failed < RETRY_TICKS) {
		recorder_lose(thread);
		return TRAMP_PASS;
	}
	sys_set_signals(&all, &before);
	/* Wiped: a handler has forked, and this is the child. It comes again with a record. */
	if (!thread_is_wiped(thread) && id >= thread->hot.count_limit) {
		process_lock(&held);
		r = extend(thread, id);
		process_unlock(&held);
		thread->count_failed = r ? now : 0;
		if (r)
			recorder_lose_for(thread, r);
	}
	sys_set_signals(&before, NULL);
	return r ? TRAMP_PASS : TRAMP_AGAIN;
}
