/* SPDX-License-Identifier: MIT */
#include "runtime/process/epoch.h"

#include <errno.h>	      /* ESRCH */
#include <linux/membarrier.h> /* MEMBARRIER_CMD_PRIVATE_EXPEDITED */
#include <stdbool.h>

#include "runtime/base/identity.h"
#include "x86_64/sys.h"

/* Before epoch_init() announcing is safe, not cheap. */
struct epoch_shared epoch_shared = { .count = 1, .fenced = 1 };

#ifdef EPOCH_TSAN
uint32_t epoch_tsan_order;
#endif

static struct epoch_slot *slots;    /* grows only; read without the lock */
static struct epoch_item *deferred; /* newest first: counts descend. Lock */

#define NOBODY UINT64_MAX

static long membarrier(int command)
{
	return sys_call(__NR_membarrier, command, 0, 0, 0, 0, 0);
}

int epoch_init(int fenced)
{
#ifdef EPOCH_TSAN
	fenced = 1;
#endif
	if (!fenced)
		fenced = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) < 0 ||
			 membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0;
	/* Relaxed: there is one thread. */
	__atomic_store_n(&epoch_shared.fenced, (uint32_t)fenced, __ATOMIC_RELAXED);
	return fenced;
}

/* R1: everything before it comes, for each announcing thread, before its A3, or its A2 before everything after it. */
void epoch_fence_all(void)
{
	/* Relaxed: a thread that finds an old 0 tries membarrier once more. */
	if (!__atomic_load_n(&epoch_shared.fenced, __ATOMIC_RELAXED) &&
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0)
		/*
		 * Refused since: from now on announcing pays. Relaxed: holds() asks each slot whether its thread has
		 * seen this.
		 */
		__atomic_store_n(&epoch_shared.fenced, 1, __ATOMIC_RELAXED);
	epoch_full_fence(); /* R1 when announcing pays; pairs with A3 in epoch_announce() */
}

/* ---- slots ---- */

/* The owner belongs to this process, and the kernel knows it no more: it runs no instruction again. */
static bool is_gone(const struct epoch_slot *slot, uint32_t generation)
{
	/*
	 * Relaxed: numbers that orders nothing; an old owner's are those of a thread that is gone, and register()
	 * cleared `seen`.
	 */
	uint32_t owner = __atomic_load_n(&slot->generation, __ATOMIC_RELAXED);
	uint32_t tid = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);

	return owner == generation && identity_thread_is_gone(tid);
}

/* The count from which the slot keeps items: everything deferred with this count or a later one. */
static uint64_t holds(const struct epoch_slot *slot)
{
	/*
	 * Relaxed: our own store in epoch_fence_all(), or an older one. Acquire; pairs with the release of slot.fenced
	 * in epoch_announce().
	 */
	if (__atomic_load_n(&epoch_shared.fenced, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&slot->fenced, __ATOMIC_ACQUIRE))
		return 1;
	/* R2: acquire; pairs with A2 in epoch_announce() and A5 in epoch_withdraw(). */
	uint64_t seen = __atomic_load_n(&slot->seen, __ATOMIC_ACQUIRE);
	return seen ? seen : NOBODY;
}

/* The least that any slot but `except` holds, as far as it is not above limit. */
static uint64_t oldest(uint64_t limit, const struct epoch_slot *except)
{
	uint64_t least = NOBODY;
	uint32_t generation = 0;

	/* Acquire; pairs with the release in epoch_register(): what announced before R1 is in the list. */
	for (struct epoch_slot *slot = __atomic_load_n(&slots, __ATOMIC_ACQUIRE); slot; slot = slot->next) {
		uint64_t count = holds(slot);
		if (count > limit || count >= least || slot == except)
			continue;
		/*
		 * Relaxed: a slot without owner has no thread that could announce; a thread that registers it later
		 * comes after R1.
		 */
		if (!__atomic_load_n(&slot->tid, __ATOMIC_RELAXED))
			continue;
		if (!generation)
			generation = identity_generation();
		if (!is_gone(slot, generation))
			least = count;
	}
	return least;
}

static void set_owner(struct epoch_slot *slot, uint32_t generation, uint32_t tid)
{
	/* Relaxed: see oldest() and is_gone(). */
	__atomic_store_n(&slot->generation, generation, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->tid, tid, __ATOMIC_RELAXED);
}

void epoch_register(struct epoch_slot *slot, uint32_t tid)
{
	uint32_t generation = identity_generation();
	struct epoch_slot *known = NULL;

	for (struct epoch_slot *s = slots; s; s = s->next) {
		if (s == slot)
			known = s;
		else if (s->tid == tid && s->generation == generation)
			epoch_unregister(s); /* its thread died, and the kernel gave us its number */
	}
	epoch_withdraw(slot, 0);
	/* Relaxed: having read 1 here, the thread never reads 0 again (coherence), so it announces with fences only. */
	__atomic_store_n(&slot->fenced, __atomic_load_n(&epoch_shared.fenced, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	set_owner(slot, generation, tid);
	if (!known) {
		slot->next = slots;
		/*
		 * Release; pairs with the acquire in oldest(). One store: a child of fork finds the slot in the list,
		 * or not.
		 */
		__atomic_store_n(&slots, slot, __ATOMIC_RELEASE);
	}
	/*
	 * Pairs with R1 in epoch_fence_all(): epoch_wait(), without the lock, finds the slot as it is now, or the
	 * thread finds epoch_shared.fenced set.
	 */
	epoch_full_fence();
}

void epoch_unregister(struct epoch_slot *slot)
{
	epoch_withdraw(slot, 0);
	set_owner(slot, 0, 0);
}

void epoch_after_fork(struct epoch_slot *self)
{
	uint32_t generation = identity_generation();

	for (struct epoch_slot *slot = slots; slot; slot = slot->next) {
		if (slot == self)
			set_owner(slot, generation, (uint32_t)sys_gettid());
		else if (slot->generation != generation)
			epoch_unregister(slot);
	}
}

/* ---- items ---- */

void epoch_defer(struct epoch_item *item, void (*callback)(struct epoch_item *item))
{
	item->callback = callback;
	item->next = deferred;
	/*
	 * D2: release; pairs with A1 in epoch_announce(). Every change of count is a fetch_add, so each heads or
	 * continues its release sequence.
	 */
	item->count = __atomic_fetch_add(&epoch_shared.count, 1, __ATOMIC_RELEASE);
	/* Release, for a child of fork: it finds the list with the whole item, or without. */
	__atomic_store_n(&deferred, item, __ATOMIC_RELEASE);
}

/* Where the items begin that no slot keeps. */
static struct epoch_item **first_free(void)
{
	struct epoch_item **link = &deferred;
	uint64_t held = oldest(deferred->count, NULL);

	while (*link && (*link)->count >= held)
		link = &(*link)->next;
	return link;
}

unsigned epoch_reclaim(void)
{
	struct epoch_item *item, *turned = NULL;
	unsigned n = 0;

	if (!deferred)
		return 0;
	/*
	 * A look without R1, which may see too little, never too much that is held: it spares membarrier where a
	 * section holds all.
	 */
	if (!*first_free())
		return 0;
	/* R1 for all items: each was deferred under the lock that we hold. Pairs with A3 in epoch_announce(). */
	if (slots) /* else no thread announces; and a seccomp filter that kills need not see the call */
		epoch_fence_all();
	struct epoch_item **link = first_free();
	item = *link;
	/* One store takes them off; relaxed: a child of fork finds what this thread stored in its order. */
	__atomic_store_n(link, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* before they are touched; no partner but that child */
	while (item) {
		struct epoch_item *older = item->next;
		item->next = turned;
		turned = item;
		item = older;
	}
	for (; turned; turned = item, n++) {
		item = turned->next;
		turned->callback(turned);
	}
	return n;
}

unsigned epoch_pending(void)
{
	unsigned n = 0;

	for (struct epoch_item *item = deferred; item; item = item->next)
		n++;
	return n;
}

/* ---- waiting ---- */

static uint64_t now_ns(void)
{
	struct timespec t = { 0 };

	sys_call(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int epoch_wait_others(const struct epoch_slot *self, uint64_t timeout)
{
	uint64_t start = now_ns();
	struct timespec nap = { .tv_nsec = 20000 };

	/* D2: release; pairs with A1 in epoch_announce(). */
	uint64_t count = __atomic_fetch_add(&epoch_shared.count, 1, __ATOMIC_RELEASE);
	for (;;) {
		epoch_fence_all(); /* R1; pairs with A3 in epoch_announce() */
		if (oldest(count, self) > count)
			return 1;
		uint64_t passed = now_ns() - start;
		if (passed >= timeout)
			return 0;
		if ((uint64_t)nap.tv_nsec > timeout - passed)
			nap.tv_nsec = (long)(timeout - passed);
		sys_call(__NR_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec *= 2;
	}
}

int epoch_wait(const struct epoch_slot *self, uint64_t timeout)
{
	/* Relaxed: our own thread's. */
	if (self && __atomic_load_n(&self->seen, __ATOMIC_RELAXED))
		return 0;
	return epoch_wait_others(self, timeout);
}
