/* SPDX-License-Identifier: MIT */
/*
 * Epochs: when may memory be freed that other threads may be looking at?
 *
 * A thread announces itself in its own slot before it loads a pointer that retirement can make stale, and withdraws
 * after its last use of the pointer: that is a read-side section (below: a section). Code that retires memory makes it
 * unreachable, defers its freeing, and goes on; a later call of epoch_reclaim() frees what no section can see any more.
 * No thread waits. A section costs plain loads and stores of the thread's own cache line; the retiring side pays for
 * the order, by membarrier.
 *
 *	announcing thread					retiring thread
 *	A1 e = acquire load count				D1 unpublish: pointer = NULL (at least relaxed)
 *	A2 release store seen = e				D2 item.count = fetch_add(count, 1), release
 *	A3 light fence: the compiler's				R1 heavy fence: membarrier
 *	A4 p = load pointer; use *p				R2 s = acquire load seen
 *	A5 release store seen = 0				R3 free when s == 0 or s > item.count
 *
 * The claim: memory that R3 frees is used by no section, neither an open one nor a later one. Both sides would miss
 * each other without this pair of a store and a load on each side:
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
 *  - A3 before R1: R2 reads A2's store, an e <= item.count, which keeps the item; or a later store to that slot: see
 *    below.
 *  - R1 before A3: A4 reads D1's store or a later one: that section does not see the pointer.
 * R2 reads A5's 0, or a later announcement, whose store is a release too: every use by the sections before happens
 * before R3. R2 reads e > item.count: A1 read what D2 or a later fetch_add stored, so D1 happens before A4. An e that
 * is too old (a handler ran long between A1 and A2) only keeps more items. R1 comes after D1 of all items in the list:
 * they were deferred under the lock that reclaim holds. The counts are 64 bits wide and never wrap.
 * t/process/epoch_torture.c asserts the claim.
 *
 * If membarrier is refused, A3 and R1 are real seq_cst fences; announcing looks at one flag, and the branch is
 * predicted. A seccomp filter may refuse it long after the start: then a slot counts as quiet only when its thread has
 * announced with a fence since then (slot.fenced, a release store after all that it announced without a fence), or is
 * gone. That may keep memory for as long as a thread sleeps; it frees none too early. ThreadSanitizer knows neither
 * membarrier nor fences; for it A3 and R1 are acq_rel operations on one variable, which give the same order.
 *
 * Sections nest, on one thread and in its signal handlers: announce returns what was announced before, and withdraw is
 * given that; inner sections store nothing. So a handler may come at any instruction, and an inner section that is left
 * by siglongjmp is ended by its outer one. An outermost section that is left so would keep everything: code that learns
 * that frames are gone calls epoch_unwound(). The frame is stored before the announcement and taken away before its
 * end, so a jump at any instruction leaves either no section, or one whose frame is known, or one without a frame. A
 * thread that dies inside keeps nothing: the kernel is asked about the thread of each slot that stands in the way.
 *
 * Slots are the caller's: never freed, and not in memory that fork wipes. The thread that forks in a section (in a
 * signal handler) is in the section still in the child, where it may reclaim. Slots of threads that the child does not
 * have keep memory until epoch_after_fork(). The rest of the state is written so that a child finds it whole at any
 * moment: each list changes by one store, and items that are being reclaimed are off the list before they are touched.
 * Items that another thread was just reclaiming at the fork are lost to the child, not freed twice.
 *
 * Which code announces: calls of the program's handlers (runtime/handlers/handlers.h), around the load of the entry and
 * the call. Trampolines need not: a thread in a stub, or on its way to a trampoline, is, seen from the program, inside
 * the object, whose text must not be unmapped then (x86_64/stub.h); trampolines, gates, the dispatch table, threads,
 * chunks, stacks and mirrors are never freed; slow paths look at no load.
 *
 * Lock: functions whose comment says "Lock held" need the process lock (runtime/process/process.h). All: any thread,
 * async-signal-safe, no libc; only epoch_wait() and epoch_wait_others() block.
 */
#ifndef XAUDIT_EPOCH_H
#define XAUDIT_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define EPOCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EPOCH_TSAN 1
#endif
#endif

/* The slot of one thread and its signal handlers. Other threads read it. It has a cache line of its own. */
struct epoch_slot {
	uint64_t seen;	 /* the count at the outermost announcement; 0: in no section */
	uint64_t frame;	 /* an address in the stack frame of that announcement; 0: not known */
	uint32_t fenced; /* the thread pays for fences and has done so at least once */
	uint32_t generation, tid; /* the owner's process (identity.h) and number; 0: no owner. Process lock */
	struct epoch_slot *next; /* all slots ever registered */
	const void *inside, *event; /* the owner's notes of what its section is for; not cleared at its end */
} __attribute__((aligned(64)));

/* Read by all, written rarely. */
struct epoch_shared {
	uint64_t count;	 /* from 1 */
	uint32_t fenced; /* announcing needs a fence; only epoch_init() sets it to 0 again */
} __attribute__((aligned(64)));

extern struct epoch_shared epoch_shared __attribute__((visibility("hidden")));

/* Something to do when no section can see it any more. It may lie in the memory that it frees. */
struct epoch_item {
	struct epoch_item *next;
	uint64_t count;
	void (*callback)(struct epoch_item *item); /* process lock held; may defer, not reclaim */
};

static inline void epoch_full_fence(void)
{
#ifdef EPOCH_TSAN
	extern uint32_t epoch_tsan_order __attribute__((visibility("hidden")));
	/* Of two such operations the later reads what the earlier stored: acquire and release pair with each other. */
	__atomic_fetch_add(&epoch_tsan_order, 1, __ATOMIC_ACQ_REL);
#else
	/* A3 and R1 as real fences; each is the other's partner. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* A3, after the announcement. */
static inline void epoch_order_announcement(struct epoch_slot *slot)
{
	/*
	 * Relaxed: a thread that reads it too late still has slot.fenced 0, and so keeps everything. Also in inner
	 * sections: a handler may come between the outer section's A2 and A3.
	 */
	if (__builtin_expect(__atomic_load_n(&epoch_shared.fenced, __ATOMIC_RELAXED) != 0, 0)) {
		/* Release: all that was announced without a fence comes before; pairs with the acquire in holds(). */
		__atomic_store_n(&slot->fenced, 1, __ATOMIC_RELEASE);
		epoch_full_fence(); /* A3; pairs with R1 in epoch_fence_all() */
	} else {
		/* A3: no instruction; pairs with membarrier, R1 in epoch_fence_all(). */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
}

/*
 * Begins a section of the thread that owns the slot, which is in none. frame: an address in the stack frame that the
 * section ends with. After it, load pointers that retirement can make stale, with the order that the data itself needs.
 */
static inline void epoch_announce_outermost(struct epoch_slot *slot, uint64_t frame)
{
	/* Relaxed, seen and frame, where only our own thread and its handlers look; the signal fences are for these. */
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

/* Begins a section, perhaps inside another one. Returns the argument for epoch_withdraw(). */
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

/* Ends the section whose epoch_announce() returned outer, which is 0 for an outermost one. */
static inline void epoch_withdraw(struct epoch_slot *slot, uint64_t outer)
{
	if (outer)
		return;
	/*
	 * Relaxed: our own thread's. First, so that no announcement ever stands beside another section's frame: a
	 * section that is left by a jump between the two stores has no frame, which epoch_has_left() knows.
	 */
	__atomic_store_n(&slot->frame, 0, __ATOMIC_RELAXED);
	/* A5: release, pairs with R2 in oldest(). */
	__atomic_store_n(&slot->seen, 0, __ATOMIC_RELEASE);
}

/*
 * Has the calling thread's section no frame? Then it was left by a jump in its very first or last instructions; or the
 * code that begins it was interrupted, and will look again. So it may be ended here: nothing is in use in it.
 */
static inline bool epoch_has_left(const struct epoch_slot *slot)
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
 * How often something was retired, plus 1. A section announced now keeps all items that are deferred with this count or
 * a later one.
 */
static inline uint64_t epoch_current(void)
{
	/* Acquire, as A1; pairs with D2. */
	return __atomic_load_n(&epoch_shared.count, __ATOMIC_ACQUIRE);
}

/* At start, while the process has one thread. fenced: don't use membarrier. Returns whether announcing pays a fence. */
int epoch_init(int fenced);

/*
 * The thread tid becomes the slot's owner: of a new slot (zeros), or of one whose thread is gone, and its section with
 * it. It is the calling thread, or one that is suspended while a child which shares its memory calls. Lock held, in no
 * section. The slot stays in the list for good.
 */
void epoch_register(struct epoch_slot *slot, uint32_t tid);

/* The owner gives the slot up: ends its section if there is one. Another thread may register the slot. Lock held. */
void epoch_unregister(struct epoch_slot *slot);

/*
 * A full barrier of the caller and, but where membarrier is refused, of all threads of the process at once: what each
 * of them does in order is seen in that order by the others, as if all of it came before, or after.
 */
void epoch_fence_all(void);

/*
 * Defers callback(item) until every section that is open now has been left. The item must be unreachable by now (D1).
 * Lock held.
 */
void epoch_defer(struct epoch_item *item, void (*callback)(struct epoch_item *item));

/*
 * Calls back all items that are safe now, oldest first. Returns how many. One compare when nothing is deferred. Lock
 * held.
 */
unsigned epoch_reclaim(void);

/* How many items are deferred. Lock held. */
unsigned epoch_pending(void);

/*
 * Waits until every section that is open now has been left, at most timeout nanoseconds. Returns whether all were left.
 * self: the calling thread's slot or NULL; if that thread is in a section it returns 0 at once. Without the lock:
 * threads in a section may need it.
 */
int epoch_wait(const struct epoch_slot *self, uint64_t timeout);

/* As epoch_wait(), but doesn't wait for a section of the calling thread. */
int epoch_wait_others(const struct epoch_slot *self, uint64_t timeout);

/*
 * In a forked child, once: forgets the slots of threads that the child does not have. self: the slot of the thread that
 * forked, or NULL if it has none. On that thread only (it is the child's main thread), at the latest when it next
 * registers. Lock held.
 */
void epoch_after_fork(struct epoch_slot *self);

#endif
