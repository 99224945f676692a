/* SPDX-License-Identifier: MIT */
#include "runtime/process/thread.h"

#include <sys/mman.h> /* MADV_WIPEONFORK */

#include "runtime/base/identity.h"
#include "runtime/process/process.h"
#include "runtime/process/process_counters.h"
#include "runtime/process/waits.h"
#include "x86_64/confined.h"
#include "x86_64/mirror_split.h"
#include "x86_64/sys.h"
#include "x86_64/vectors.h"

#define RECORD_SIZE  256 /* two pairs of cache lines: no two threads share one */
#define SLAB_SIZE    THREAD_SLAB
#define SLAB_RECORDS (SLAB_SIZE / RECORD_SIZE)
#define MAX_SLABS    4096 /* a million threads at once */

_Static_assert(sizeof(struct thread) <= RECORD_SIZE, "a record fits");
_Static_assert(sizeof(struct epoch_slot) + 192 <= RECORD_SIZE && sizeof(struct thread_kept) <= 192,
	"and what lies beside it");

__thread struct tramp_state *tramp_self;
struct stack thread_nowhere = { .hot = { .low = ~0ull } };

static uint8_t *slabs[MAX_SLABS] SYS_LARGE; /* survive fork; the records in them don't. Process lock. */

static struct thread *record(unsigned n)
{
	return (struct thread *)(slabs[n / SLAB_RECORDS] + n % SLAB_RECORDS * RECORD_SIZE);
}

/* A free record among so many, or one whose thread is gone. */
static struct thread *find_free(unsigned total, uint32_t tid)
{
	static unsigned start; /* where the last free record was found: those before it are likely in use */

	for (unsigned i = 0; i < total; i++) {
		unsigned n = (start + i) % total;
		struct thread *thread = record(n);
		if (!thread->tid && thread_kept(thread)->owner)
			continue;
		/* Relaxed, as in watch_end(). */
		int asks = !confined() && !__atomic_load_n(&thread_kept(thread)->watched, __ATOMIC_RELAXED);
		/* A record with our own tid that is not ours: its thread died and the kernel gave us its number. */
		if (!thread->tid || thread->tid == tid || (asks && identity_thread_is_gone(thread->tid))) {
			start = n;
			return thread;
		}
	}
	return NULL;
}

/* Threads may end by the system call alone, without a word from libc. Frees their records. */
static void free_gone(unsigned total)
{
	for (unsigned i = 0; i < total; i++) {
		struct thread *thread = record(i);
		if (thread->tid && identity_thread_is_gone(thread->tid))
			thread->tid = thread_kept(thread)->owner = 0;
	}
}

/* A record for the calling thread. Lock held. */
static struct thread *find(uint32_t tid)
{
	unsigned total = 0;
	struct thread *own = (struct thread *)tramp_self;

	/* A forked child's; the slot that goes with it may say that the thread is in a handler. */
	if (own && !own->tid)
		return own;
	while (total < MAX_SLABS * SLAB_RECORDS && slabs[total / SLAB_RECORDS])
		total += SLAB_RECORDS;
	struct thread *thread = find_free(total, tid);
	unsigned full = total / SLAB_RECORDS;
	/* Looks at all whenever they would become twice as many, from 512 on. */
	if (!thread && !confined() && full > 1 && !(full & (full - 1))) {
		free_gone(total);
		thread = find_free(total, tid);
	}
	if (thread)
		return thread;
	if (total == MAX_SLABS * SLAB_RECORDS || confined())
		return NULL;
	uint8_t *slab = sys_mmap(NULL, 2 * SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(slab))
		return NULL;
	if (sys_madvise(slab, SLAB_SIZE, MADV_WIPEONFORK)) {
		sys_munmap(slab, 2 * SLAB_SIZE);
		return NULL;
	}
	slabs[full] = slab;
	return record(total);
}

unsigned thread_trace_number(struct thread *thread)
{
	if (!thread->has_number) {
		thread->number = process_new_thread();
		thread->has_number = 1;
	}
	return thread->number;
}

void thread_each(void (*do_it)(struct thread *thread))
{
	for (unsigned slab = 0; slab < MAX_SLABS && slabs[slab]; slab++)
		for (unsigned i = 0; i < SLAB_RECORDS; i++)
			do_it(record(slab * SLAB_RECORDS + i));
}

static unsigned others; /* threads that have a record. Lock */

static void note_other(struct thread *thread)
{
	if (thread->tid && thread != (struct thread *)tramp_self && !identity_thread_is_gone(thread->tid))
		others++;
}

static void forget(struct thread *thread)
{
	if (thread != (struct thread *)tramp_self)
		thread_kept(thread)->owner = 0;
	for (size_t i = 0; i < sizeof(*thread) / sizeof(uint64_t); i++)
		__atomic_store_n((uint64_t *)(void *)thread + i, 0, __ATOMIC_RELAXED); /* relaxed: own, or nobody's */
}

int thread_forget_all(void)
{
	others = 0;
	thread_each(note_other);
	if (!others)
		thread_each(forget);
	return !others;
}

/* ---- beginning and end ---- */

/* Lock held. */
static void drop_away(struct thread *thread)
{
	if (thread_kept(thread)->away)
		mirror_drop(thread_kept(thread)->away);
	thread_kept(thread)->away = NULL;
}

static struct thread_hooks hooks;
static uintptr_t set_specific;
static unsigned end_key;
static int goes_on; /* a thread makes events after libc said that it ends */

void thread_init(const struct thread_hooks *given)
{
	hooks = *given;
}

void thread_watch_ends(uintptr_t setspecific, unsigned key)
{
	end_key = key;
	/* Release; pairs with the acquire in watch_end(): a thread that sees the function sees the key. */
	__atomic_store_n(&set_specific, setspecific, __ATOMIC_RELEASE);
}

uintptr_t thread_setspecific(void)
{
	return __atomic_load_n(&set_specific, __ATOMIC_RELAXED); /* relaxed: it is stored with the lock held */
}

void thread_use_setspecific(uintptr_t function)
{
	/* Release, as in thread_watch_ends(). */
	__atomic_store_n(&set_specific, function, __ATOMIC_RELEASE);
}

void thread_goes_on(void)
{
	/* Relaxed: a thread that ends just now and does not see it leaves a record more. */
	__atomic_store_n(&goes_on, 1, __ATOMIC_RELAXED);
}

static void watch_end(struct thread *thread)
{
	/* Acquire; pairs with the release in thread_watch_ends(). */
	uintptr_t function = __atomic_load_n(&set_specific, __ATOMIC_ACQUIRE);

	/* Relaxed: a thread that reads the old value asks the kernel the next time. */
	if (!function || (int)vectors_keep(function, end_key, (uint64_t)(uintptr_t)thread))
		__atomic_store_n(&thread_kept(thread)->watched, 0, __ATOMIC_RELAXED);
}

void thread_ended(void *record)
{
	struct process_held held;
	struct thread *thread = record;
	uint64_t before;

	/* A forked child inherits the value, not the record. */
	if (thread_self() != thread)
		return;
	sys_block_signals(&before);
	struct stack *stack = hooks.ends(thread);
	process_lock(&held);
	if (stack)
		mirror_leave(stack);
	hooks.ended(thread);
	drop_away(thread);
	thread->hot.stack = NULL;
	/* Relaxed, as in thread_goes_on() and watch_end(). */
	if (__atomic_load_n(&goes_on, __ATOMIC_RELAXED)) {
		__atomic_store_n(&thread_kept(thread)->watched, 0, __ATOMIC_RELAXED);
	} else {
		tramp_self = NULL;
		thread->tid = thread_kept(thread)->owner = 0;
	}
	process_unlock(&held);
	sys_set_signals(&before, NULL);
}

/* The record is that of the calling thread, which may take it over from one that is gone. Lock held. */
static void begin_record(struct thread *thread, uint32_t tid)
{
	int again = thread->has_number != 0;

	thread->tid = thread_kept(thread)->owner = tid;
	/* Relaxed: it is going to be; see watch_end(). */
	__atomic_store_n(&thread_kept(thread)->watched, 1, __ATOMIC_RELAXED);
	thread->enrolled = 0;
	thread->hot.known = 0;
	thread->muted = 0;
	drop_away(thread);
	thread->hot.stack = NULL;
	thread_kept(thread)->said = 0;
	if (again)
		hooks.taken(thread);
}

uint32_t thread_shared;

/*
 * The thread is gone by which the record was taken, and the caller has its thread-local data: takes it over. Of several
 * who find that, the first one does.
 */
static int take_over(struct thread *thread, uint32_t gone, uint32_t tid)
{
	struct process_held held;
	int is = 0;

	if (!identity_thread_is_gone(gone))
		return 0;
	process_lock(&held);
	/* Signals are blocked now. A handler may have forked before: then this is the child. */
	if (thread->tid == gone && thread_self() == thread && tid == (uint32_t)sys_gettid()) {
		begin_record(thread, tid);
		is = 1;
	}
	process_unlock(&held);
	if (is)
		watch_end(thread);
	return is;
}

enum thread_caller thread_caller(struct thread *thread, uint64_t address)
{
	const struct stack *stack = (const struct stack *)thread->hot.stack;

	if (stack && stack_has(stack, address))
		return THREAD_OWN;
	stack = thread_is_shared() ? NULL : mirror_find(address);
	/* Relaxed: it was stored by this thread. */
	if (stack && __atomic_load_n(&stack->runner, __ATOMIC_RELAXED) == thread)
		return THREAD_OWN;
	/* Its number first: where it is wiped meanwhile, this is the thread that forked. */
	uint32_t owner = thread->tid, tid = !owner || confined() ? owner : (uint32_t)sys_gettid();
	if (tid == owner || thread_is_wiped(thread))
		return THREAD_OWN;
	__atomic_store_n(&thread_shared, 1, __ATOMIC_RELAXED); /* relaxed: see thread_is_shared() */
	if (take_over(thread, owner, tid))
		return THREAD_OWN;
	/* A handler may have forked in between, as above. */
	if (waits_for_caller(owner))
		return thread_is_wiped(thread) ? THREAD_OWN : THREAD_GUEST;
	return thread_is_wiped(thread) ? THREAD_OWN : THREAD_STRANGER;
}

uint32_t thread_number(void)
{
	const struct thread *thread = thread_self();

	return thread ? thread->tid : identity_tid();
}

struct thread *thread_get(void)
{
	struct process_held held;
	struct thread *thread = thread_self();

	if (thread)
		return thread;
	if (process_state() == PROCESS_OFF || process_lose_refused())
		return NULL;
	if (process_state() != PROCESS_ON && !process_may_begin()) {
		process_lose(TRACE_LOST_FILTER);
		return NULL;
	}
	/* A child that shares our memory has its parent's tramp_self: a record of its own would become that
	 * thread's. Under a filter the kernel can't be asked. */
	if (!confined() && !identity_is_ours()) {
		process_lose(TRACE_LOST_STRANGER);
		return NULL;
	}
	if (process_is_inside()) {
		process_lose(TRACE_LOST_FILTER);
		return NULL;
	}
	process_lock(&held);
	/* Signals are blocked now. A handler may have made the record in between. */
	thread = thread_self();
	if (!thread && process_start() == PROCESS_ON) {
		uint32_t tid = thread_number();
		hooks.begun();
		thread = tid ? find(tid) : NULL;
		if (thread) {
			begin_record(thread, tid);
			tramp_self = &thread->hot;
		}
	}
	process_unlock(&held);
	if (thread)
		watch_end(thread);
	else if (!process_lose_refused() && process_state() != PROCESS_OFF)
		process_lose(confined() ? TRACE_LOST_FILTER : TRACE_LOST_MEMORY);
	return thread;
}
