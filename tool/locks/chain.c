/* SPDX-License-Identifier: MIT */
#include "tool/locks/chain.h"

#include <string.h>

#include "tool/locks/model.h"

/* Whom the thread waits for: the first one that keeps it out. LOCKS_NONE: nobody. */
static uint32_t holder_before(const struct locks *locks, uint32_t thread, uint32_t *lock)
{
	const struct locks_open *open = locks_waiting(locks, thread);

	if (!open || locks->lock[open->lock].kind == LOCKS_SEMAPHORE)
		return LOCKS_NONE;
	*lock = open->lock;
	for (uint32_t i = locks->lock[open->lock].hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_lock)
		if (locks->hold[i].thread != thread &&
			locks_excludes(locks->hold[i].reads, locks_act_reads(open->act)))
			return locks->hold[i].thread;
	return LOCKS_NONE;
}

struct search {
	const struct locks *locks;
	uint32_t path[CHAINS_LONGEST], best[CHAINS_LONGEST];
	uint32_t longest;
};

static bool is_on_path(const struct search *search, uint32_t depth, uint32_t thread)
{
	for (uint32_t i = 0; i <= depth; i++)
		if (search->path[i] == thread)
			return true;
	return false;
}

/* Those who wait for what the thread holds, and who for what these hold: the longest way back. */
static void look_back(struct search *search, uint32_t thread, uint32_t depth)
{
	const struct locks *locks = search->locks;

	search->path[depth] = thread;
	if (depth > search->longest) {
		search->longest = depth;
		memcpy(search->best, search->path, sizeof(search->best));
	}
	if (depth + 1 == CHAINS_LONGEST)
		return;
	for (uint32_t i = locks->thread[thread].hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_thread) {
		const struct locks_lock *lock = &locks->lock[locks->hold[i].lock];
		uint32_t wanted;
		for (uint32_t k = 0; k < lock->waiters; k++)
			if (!is_on_path(search, depth, lock->waiter[k]) &&
				holder_before(locks, lock->waiter[k], &wanted) == thread)
				look_back(search, lock->waiter[k], depth + 1);
	}
}

/* Follows the waits from thread[0] on. */
static void follow(const struct locks *locks, struct locks_chain *chain)
{
	while (chain->waits < CHAINS_LONGEST && !chain->circle) {
		uint32_t lock, next = holder_before(locks, chain->thread[chain->waits], &lock);

		if (next == LOCKS_NONE)
			return;
		for (uint32_t i = 0; i <= chain->waits; i++)
			chain->circle |= chain->thread[i] == next;
		chain->lock[chain->waits++] = lock;
		chain->thread[chain->waits] = next;
	}
}

static bool are_same(const struct locks_chain *one, const struct locks_chain *other)
{
	return one->waits == other->waits && one->circle == other->circle &&
	       !memcmp(one->lock, other->lock, one->waits * sizeof(*one->lock));
}

/* Its row, which is made if there is room, or a shorter one that gives way. */
static uint32_t keep(struct locks_chains *chains, const struct locks_chain *chain)
{
	uint32_t shortest = 0, i;

	for (i = 0; i < chains->chains; i++) {
		if (are_same(&chains->chain[i], chain)) {
			chains->chain[i].count++;
			return i;
		}
		if (chains->chain[i].waits < chains->chain[shortest].waits)
			shortest = i;
	}
	if (i < CHAINS_MOST) {
		chains->chain[chains->chains++] = *chain;
		return i;
	}
	if (chains->chain[shortest].waits >= chain->waits)
		return LOCKS_NONE;
	chains->chain[shortest] = *chain;
	return shortest;
}

void chain_look(struct locks *locks, uint32_t thread, uint64_t time)
{
	struct search search = { .locks = locks };
	struct locks_chain chain = { .first = time, .count = 1 };

	look_back(&search, thread, 0);
	chain.thread[0] = search.best[search.longest];
	if (!search.longest)
		chain.thread[0] = thread;
	follow(locks, &chain);
	/* One that waits for one who works is told by locks. */
	if (chain.waits < 2)
		return;
	struct locks_thread *last = &locks->thread[chain.thread[0]];
	last->open[last->opens - 1].chain = keep(locks->chains, &chain);
}

void chain_waited(struct locks *locks, uint32_t chain, uint64_t time)
{
	if (time > locks->chains->chain[chain].longest)
		locks->chains->chain[chain].longest = time;
}

bool chain_is_part(const struct locks_chains *chains, uint32_t number)
{
	const struct locks_chain *part = &chains->chain[number];

	for (uint32_t i = 0; i < chains->chains; i++) {
		const struct locks_chain *whole = &chains->chain[i];
		for (uint32_t at = 0; whole->waits > part->waits && at + part->waits <= whole->waits; at++)
			if (!memcmp(whole->lock + at, part->lock, part->waits * sizeof(*part->lock)))
				return true;
	}
	return false;
}
