/* SPDX-License-Identifier: MIT */
#include "runtime/thread.h"

#include <sys/mman.h> /* MADV_WIPEONFORK */

#include "runtime/calls.h"
#include "runtime/handlers.h"
#include "runtime/identity.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/sys.h"
#include "x86_64/vectors.h"

#define RECORD_SIZE  256 /* two pairs of cache lines: no two threads share one */
#define SLAB_SIZE    THREAD_SLAB
#define SLAB_RECORDS (SLAB_SIZE / RECORD_SIZE)
#define MAX_SLABS    4096 /* a million threads at once */

_Static_assert(sizeof(struct thread) <= RECORD_SIZE, "a record fits");
_Static_assert(sizeof(struct epoch_slot) + 192 <= RECORD_SIZE, "and what lies beside it");

__thread struct tramp_state *tramp_self;

static uint8_t *slabs[MAX_SLABS]; /* survive fork; the records in them don't. Process lock. */

static struct thread *record(unsigned n)
{
	return (struct thread *)(slabs[n / SLAB_RECORDS] + n % SLAB_RECORDS * RECORD_SIZE);
}

/* A free record, or one whose thread is gone. Lock held. */
static struct thread *find(uint32_t tid)
{
	static unsigned start; /* where the last one was found: the ones before are likely in use */
	unsigned total = 0;
	struct thread *own = (struct thread *)tramp_self;

	/* A forked child's; the slot that goes with it may say that the thread is in a handler. */
	if (own && !own->tid)
		return own;
	while (total < MAX_SLABS * SLAB_RECORDS && slabs[total / SLAB_RECORDS])
		total += SLAB_RECORDS;
	for (unsigned i = 0; i < total; i++) {
		unsigned n = (start + i) % total;
		struct thread *thread = record(n);
		if (!thread->tid && *thread_owner(thread))
			continue;
		/* A record with our own tid that is not ours: its thread died and the kernel gave us its number. */
		if (!thread->tid || thread->tid == tid || identity_thread_is_gone(thread->tid)) {
			start = n;
			return thread;
		}
	}
	if (total == MAX_SLABS * SLAB_RECORDS)
		return NULL;
	uint8_t *slab = sys_mmap(NULL, 2 * SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(slab))
		return NULL;
	if (sys_madvise(slab, SLAB_SIZE, MADV_WIPEONFORK)) {
		sys_munmap(slab, 2 * SLAB_SIZE);
		return NULL;
	}
	slabs[total / SLAB_RECORDS] = slab;
	start = total;
	return record(total);
}

void thread_each(void (*do_it)(struct thread *thread))
{
	for (unsigned slab = 0; slab < MAX_SLABS && slabs[slab]; slab++)
		for (unsigned i = 0; i < SLAB_RECORDS; i++)
			do_it(record(slab * SLAB_RECORDS + i));
}

static uintptr_t set_specific;
static unsigned end_key;

void thread_watch_ends(uintptr_t setspecific, unsigned key)
{
	end_key = key;
	/* Release; pairs with the acquire in watch_end(): who sees the function sees the key. */
	__atomic_store_n(&set_specific, setspecific, __ATOMIC_RELEASE);
}

static void watch_end(struct thread *thread)
{
	/* Acquire; pairs with the release in thread_watch_ends(). */
	uintptr_t function = __atomic_load_n(&set_specific, __ATOMIC_ACQUIRE);

	if (function)
		vectors_keep(function, end_key, (uint64_t)(uintptr_t)thread);
}

void thread_ended(void *record)
{
	static const uint64_t all = ~0ull;
	struct process_held held;
	struct thread *thread = record;
	uint64_t before;

	/* A forked child inherits the value, not the record. */
	if (thread_self() != thread)
		return;
	sys_set_signals(&all, &before);
	struct stack *stack = calls_unwind_all(thread);
	process_lock(&held);
	if (stack)
		mirror_leave(stack);
	handlers_thread_ended(thread);
	thread->hot.stack = NULL;
	tramp_self = NULL;
	thread->tid = *thread_owner(thread) = 0;
	process_unlock(&held);
	sys_set_signals(&before, NULL);
}

struct thread *thread_get(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		return thread;
	if (process_state() == PROCESS_OFF)
		return NULL;
	/* A child that shares our memory has its parent's tramp_self: a record of its own would become that
	 * thread's. */
	if (!identity_is_ours()) {
		process_lose();
		return NULL;
	}
	process_lock(&held);
	/* Signals are blocked now. A handler may have made the record in between. */
	thread = thread_self();
	if (!thread && process_start() == PROCESS_ON) {
		uint32_t tid = (uint32_t)sys_gettid();
		recorder_describe(); /* it may just have been begun */
		thread = find(tid);
		if (thread) {
			int again = thread->has_number != 0;
			thread->tid = *thread_owner(thread) = tid;
			thread->enrolled = 0;
			thread->hot.stack = NULL;
			if (again)
				recorder_thread_changed(thread);
			tramp_self = &thread->hot;
		}
	}
	process_unlock(&held);
	if (thread)
		watch_end(thread);
	return thread;
}
