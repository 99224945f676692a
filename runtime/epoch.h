/* SPDX-License-Identifier: MIT */
/*
 * Epochs: when may memory be freed that other threads may be looking at?
 *
 * A thread announces itself in its own slot before it loads a pointer that retirement can make stale, and withdraws
 * behind its last use of it: a section. Whoever retires makes the memory unreachable, defers its freeing, and goes on;
 * whoever passes later reclaims what no section can see any more. Nobody waits. A section costs plain loads and stores
 * of the thread's own cache line; the retiring side pays for the order, by membarrier.
 *
 *	announcing thread					retiring thread
 *	A1 e = acquire load count				D1 unpublish: pointer = NULL (at least relaxed)
 *	A2 release store seen = e				D2 item.count = fetch_add(count, 1), release
 *	A3 light fence: the compiler's				R1 heavy fence: membarrier
 *	A4 p = load pointer; use *p				R2 s = acquire load seen
 *	A5 release store seen = 0				R3 free when s == 0 or s > item.count
 *
 * The claim: what R3 frees is used by no section, neither an open one nor one to come. The store-load pair, without
 * which both could miss each other:
 *
 *	A2 seen = e						D1 pointer = NULL
 *	A3 ---- light ----					R1 ---- heavy ----
 *	A4 load pointer						R2 load seen
 *	never: A4 finds the old pointer and R2 finds seen without A2's store
 *
 * C11 has no asymmetric fence. The kernel's promise: between the call and the return of membarrier every running thread
 * of the process executes a full barrier (the others execute one when they are switched to), and A3 keeps the compiler
 * from moving A4 above A2. So, as in P1202, A3 counts as atomic_thread_fence(seq_cst) when it is compared with R1, and
 * the two are ordered:
 *  - A3 before R1: R2 reads A2's store or a later one of that slot: an e <= item.count, which holds, or what comes
 *    below.
 *  - R1 before A3: A4 reads D1's store or a later one: that section does not have the pointer.
 * R2 reads A5's 0, or a later announcement, whose store is a release too: every use by the sections before happens
 * before R3. R2 reads e > item.count: A1 read what D2 or a later fetch_add stored, so D1 happens before A4. Any e that
 * is too old (a handler ran long between A1 and A2) only holds more. R1 comes behind D1 of all items there are: they
 * were deferred under the lock that reclaim holds. The counts are 64 bits wide and never wrap. t/unit/epoch_torture.c
 * asserts the claim.
 *
 * Where membarrier is refused, A3 and R1 are real seq_cst fences; announcing looks at one flag, and the branch is
 * predicted. A seccomp filter may refuse it long after the start: then a slot counts as quiet only when its thread has
 * announced with a fence since (slot.fenced, a release store behind all that it announced without), or is gone. That
 * may hold memory for as long as a thread sleeps; it frees none too early. ThreadSanitizer knows neither membarrier nor
 * fences; there A3 and R1 are acq_rel operations on one variable, which order the same.
 *
 * Sections nest, on one thread and in its signal handlers: announce answers what was announced before, withdraw puts
 * that back; inner ones store nothing. So a handler may come at any instruction, and an inner section that is left by
 * siglongjmp is ended by its outer one. An outermost one that is left so would hold everything: whoever learns that
 * frames are gone says so by epoch_unwound(). The frame is stored before the announcement and taken away before its
 * end, so a jump at any instruction leaves either no section, or one whose frame is known, or one without a frame. A
 * thread that dies inside holds nothing: the kernel is asked about each slot that stands in the way.
 *
 * Slots are the caller's: never freed, and not in memory that fork wipes. The thread that forks in a section (in a
 * signal handler) is in the section still in the child, where it may reclaim. Slots of the threads that the child has
 * not hold until epoch_after_fork(). The rest of the state is written so that a child finds it whole at any moment:
 * each list changes by one store, and what is being reclaimed is off the list before it is touched. What another thread
 * was just reclaiming at the fork is lost to the child, not freed twice.
 *
 * Who announces: the call of a handler of the program (runtime/handlers/handlers.h), around the load of its entry and
 * the call. Trampolines need not: a thread in a stub or on its way to a trampoline is, seen from the program, inside
 * the object, whose text must not be unmapped then (x86_64/stub.h); trampolines, gates and the dispatch table are never
 * freed; threads, chunks, stacks and mirrors neither; slow paths look at no load.
 *
 * Lock: what says so runs with the process lock held (runtime/process.h). All: any thread, async-signal-safe, no libc,
 * never blocks but epoch_wait().
 */
#ifndef XAUDIT_EPOCH_H
#define XAUDIT_EPOCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define EPOCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EPOCH_TSAN 1
#endif
#endif

/* One thread's, and its signal handlers'. Others read it. A cache line of its own. */
struct epoch_slot {
	uint64_t seen;	 /* count at the outermost announcement; 0: in no section */
	uint64_t frame;	 /* an address in the stack frame of that announcement; 0: not known */
	uint32_t fenced; /* the thread pays for fences and has done so at least once */
	uint32_t generation, tid; /* the owner's process (identity.h) and number; 0: nobody's. Process lock */
	struct epoch_slot *next; /* all slots ever registered */
	const void *inside; /* the owner's own note of what its section is for; stays when that is over */
} __attribute__((aligned(64)));

/* Read by all, written rarely. */
struct epoch_shared {
	uint64_t count;	 /* from 1 */
	uint32_t fenced; /* announcing needs a fence; never becomes 0 again but by epoch_init() */
} __attribute__((aligned(64)));

extern struct epoch_shared epoch_shared __attribute__((visibility("hidden")));

/* Something to do when nobody can see it any more. Lies in the memory that it frees, if you like. */
struct epoch_item {
	struct epoch_item *next;
	uint64_t count;
	void (*callback)(struct epoch_item *item); /* process lock held; may defer, not reclaim */
};

/* Memory to be unmapped. */
struct epoch_memory {
	struct epoch_item item;
	void *start;
	size_t size;
};

static inline void epoch_full_fence(void)
{
#ifdef EPOCH_TSAN
	extern uint32_t epoch_tsan_order __attribute__((visibility("hidden")));
	/* Of two such operations one reads what the other stored: acquire and release pair with each other. */
	__atomic_fetch_add(&epoch_tsan_order, 1, __ATOMIC_ACQ_REL);
#else
	/* A3 and R1 as real fences; each is the other's partner. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* A3, behind the announcement. */
static inline void epoch_order_announcement(struct epoch_slot *slot)
{
	/*
	 * Relaxed: who reads it too late is held by its slot.fenced. Also in inner sections: a handler may come
	 * between the outer one's A2 and A3.
	 */
	if (__builtin_expect(__atomic_load_n(&epoch_shared.fenced, __ATOMIC_RELAXED) != 0, 0)) {
		/* Release: all that was announced without a fence comes before; pairs with the acquire in holds(). */
		__atomic_store_n(&slot->fenced, 1, __ATOMIC_RELEASE);
		epoch_full_fence(); /* A3; pairs with R1 in heavy_fence() */
	} else {
		/* A3: no instruction; pairs with membarrier, R1 in heavy_fence(). */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
}

/*
 * Begins a section of the thread that owns the slot, which is in none. frame: an address in the stack frame that the
 * section ends with. Behind it load what retirement can make stale, with the order that the data itself needs.
 */
static inline void epoch_announce_outermost(struct epoch_slot *slot, uint64_t frame)
{
	/* Relaxed, seen and frame, where our own thread and its handlers alone are meant; the fences are for these. */
	do {
		__atomic_store_n(&slot->frame, frame, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		/*
		 * A1: acquire, pairs with D2 in epoch_defer(). A2: release, pairs with R2 in oldest(). x86: plain mov
		 * both.
		 */
		__atomic_store_n(&slot->seen, __atomic_load_n(&epoch_shared.count, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		/* A handler's section has taken the frame away, or has found us without one and ended ours. */
	} while (__builtin_expect(__atomic_load_n(&slot->frame, __ATOMIC_RELAXED) != frame ||
			!__atomic_load_n(&slot->seen, __ATOMIC_RELAXED), 0));
	epoch_order_announcement(slot);
}

/* The same where there may be one already. Returns what epoch_withdraw() wants to know. */
static inline uint64_t epoch_announce(struct epoch_slot *slot)
{
	/* Relaxed: our own thread's store. */
	uint64_t outer = __atomic_load_n(&slot->seen, __ATOMIC_RELAXED);

	if (outer)
		epoch_order_announcement(slot);
	else
		epoch_announce_outermost(slot, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	return outer;
}

/* Ends the section whose epoch_announce() answered outer; an outermost one answers 0. */
static inline void epoch_withdraw(struct epoch_slot *slot, uint64_t outer)
{
	if (outer)
		return;
	/*
	 * Relaxed: our own thread's. First, so that no announcement ever stands beside another section's frame: who is
	 * left by a jump between the two has none, which epoch_has_left() knows.
	 */
	__atomic_store_n(&slot->frame, 0, __ATOMIC_RELAXED);
	/* A5: release, pairs with R2 in oldest(). */
	__atomic_store_n(&slot->seen, 0, __ATOMIC_RELEASE);
}

/*
 * Has the calling thread's section no frame? Then it was left by a jump in its very first or last instructions; or who
 * begins it was interrupted and looks again, so that it may be ended here: nothing of it is in use.
 */
static inline int epoch_has_left(const struct epoch_slot *slot)
{
	/* Relaxed, both: our own thread's. */
	return __atomic_load_n(&slot->seen, __ATOMIC_RELAXED) && !__atomic_load_n(&slot->frame, __ATOMIC_RELAXED);
}

/*
 * The frames at low ... high-1 of the calling thread's stack are gone without return: ends its section if it was
 * begun there.
 */
static inline void epoch_unwound(struct epoch_slot *slot, uint64_t low, uint64_t high)
{
	/* Relaxed: our own thread's. */
	uint64_t frame = __atomic_load_n(&slot->frame, __ATOMIC_RELAXED);

	if ((frame >= low && frame < high) || epoch_has_left(slot))
		epoch_withdraw(slot, 0);
}

/*
 * How often something was retired, plus 1. A section announced now holds whatever is deferred with this count or a
 * later one.
 */
static inline uint64_t epoch_current(void)
{
	/* Acquire, as A1; pairs with D2. */
	return __atomic_load_n(&epoch_shared.count, __ATOMIC_ACQUIRE);
}

/* At start, while the process has one thread. fenced: don't use membarrier. Returns whether announcing pays a fence. */
int epoch_init(int fenced);

/*
 * The calling thread becomes the slot's owner: of a new one (zeros), or of one whose thread is gone, and with it its
 * section. Lock held, in no section. The slot stays known for good.
 */
void epoch_register(struct epoch_slot *slot);

/* The same for a child that shares the memory of the thread tid, which is suspended meanwhile: that one is the
 * owner. */
void epoch_register_for(struct epoch_slot *slot, uint32_t tid);

/* The owner goes: ends its section if there is one. Another thread may register the slot. Lock held. */
void epoch_unregister(struct epoch_slot *slot);

/*
 * To be called back when every section that is open now has been left. Nobody may be able to reach it any more (D1).
 * Lock held.
 */
void epoch_defer(struct epoch_item *item, void (*callback)(struct epoch_item *item));

/* The same for memory to unmap; *memory may lie in it. Lock held. */
void epoch_defer_memory(struct epoch_memory *memory, void *start, size_t size);

/* Calls back what is safe now, oldest first. Returns how many. One compare when nothing is deferred. Lock held. */
unsigned epoch_reclaim(void);

/* How many are deferred. Lock held. */
unsigned epoch_pending(void);

/*
 * Waits until every section that is open now has been left, at most timeout nanoseconds. Returns whether that came.
 * self: the calling thread's slot or NULL; in a section of its own it answers 0 at once. Without the lock: those in a
 * section may need it.
 */
int epoch_wait(const struct epoch_slot *self, uint64_t timeout);

/* The same, but doesn't wait for a section of the calling thread's own. */
int epoch_wait_others(const struct epoch_slot *self, uint64_t timeout);

/*
 * In a forked child, once: forgets the slots of threads that it has not. self: the slot of the thread that forked, or
 * NULL when it has none. On that thread only (it is the child's main thread), at the latest when it next registers.
 * Lock held.
 */
void epoch_after_fork(struct epoch_slot *self);

#endif
