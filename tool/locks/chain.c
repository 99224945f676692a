/* SPDX-License-Identifier: MIT */
#include "tool/locks/chain.h"

#include <string.h>

#include "tool/locks/model.h"

#define STEPS 4096 /* of a search, most: many may wait for many */

/* A search for the longest way. */
struct search {
	const struct locks *locks;
	struct locks_chain now, best; /* of now, `waits` is how far it has come */
	uint32_t steps;
};

/* What keeps it out; LOCKS_NONE: nothing. */
static uint32_t wanted_by(const struct locks *locks, uint32_t thread)
{
	const struct locks_open *open = locks_waiting(locks, thread);

	return open && locks->lock[open->lock].kind != LOCKS_SEMAPHORE ? open->lock : LOCKS_NONE;
}

static bool keeps_out(const struct locks *locks, const struct locks_hold *hold, uint32_t thread)
{
	return hold->thread != thread && wanted_by(locks, thread) == hold->lock &&
	       locks_excludes(hold->reads, locks_act_reads(locks_waiting(locks, thread)->act));
}

static bool is_on_way(const struct locks_chain *chain, uint32_t thread)
{
	for (uint32_t i = 0; i <= chain->waits; i++)
		if (chain->thread[i] == thread)
			return true;
	return false;
}

static void offer(struct search *search)
{
	if (!search->best.circle && (search->now.circle || search->now.waits > search->best.waits))
		search->best = search->now;
}

/*
 * Those who wait for what the last one of the way holds, and who for what these hold. The way is one back: thread[i]
 * holds what thread[i + 1] waits for.
 */
static void look_back(struct search *search)
{
	const struct locks *locks = search->locks;
	struct locks_chain *now = &search->now;

	offer(search);
	if (now->waits == CHAINS_LONGEST || ++search->steps > STEPS)
		return;
	for (uint32_t i = locks->thread[now->thread[now->waits]].hold_first; i != LOCKS_NONE;
		i = locks->hold[i].next_of_thread) {
		const struct locks_hold *hold = &locks->hold[i];
		const struct locks_lock *lock = &locks->lock[hold->lock];
		for (uint32_t k = 0; k < lock->waiters; k++) {
			if (!keeps_out(locks, hold, lock->waiter[k]) || is_on_way(now, lock->waiter[k]))
				continue;
			now->thread[++now->waits] = lock->waiter[k];
			look_back(search);
			now->waits--;
		}
	}
}

/* Those who keep out the last one of the way, and who these: a way that comes back to itself ends there. */
static void follow(struct search *search)
{
	const struct locks *locks = search->locks;
	struct locks_chain *now = &search->now;
	uint32_t last = now->thread[now->waits], lock = wanted_by(locks, last);

	offer(search);
	if (lock == LOCKS_NONE || now->waits == CHAINS_LONGEST || search->best.circle || ++search->steps > STEPS)
		return;
	for (uint32_t i = locks->lock[lock].hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_lock) {
		if (!keeps_out(locks, &locks->hold[i], last))
			continue;
		now->circle = is_on_way(now, locks->hold[i].thread);
		now->lock[now->waits] = lock;
		now->thread[++now->waits] = locks->hold[i].thread;
		if (now->circle)
			offer(search);
		else
			follow(search);
		now->waits--;
		now->circle = false;
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

/* As most do: nobody waits for the thread, and who keeps it out waits for nobody. */
static bool waits_alone(const struct locks *locks, uint32_t thread)
{
	uint32_t lock = wanted_by(locks, thread);

	for (uint32_t i = locks->thread[thread].hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_thread)
		if (locks->lock[locks->hold[i].lock].waiters)
			return false;
	for (uint32_t i = lock == LOCKS_NONE ? LOCKS_NONE : locks->lock[lock].hold_first; i != LOCKS_NONE;
		i = locks->hold[i].next_of_lock)
		if (wanted_by(locks, locks->hold[i].thread) != LOCKS_NONE)
			return false;
	return true;
}

void chain_look(struct locks *locks, uint32_t thread, uint64_t time)
{
	if (waits_alone(locks, thread))
		return;
	struct search back = { .locks = locks, .now.thread = { thread } }, on = { .locks = locks };

	look_back(&back);
	on.now.thread[0] = back.best.waits ? back.best.thread[back.best.waits] : thread;
	on.now.first = time;
	on.now.count = 1;
	follow(&on);
	/* One that waits for one who works is told by locks. */
	if (on.best.waits < 2)
		return;
	struct locks_thread *last = &locks->thread[on.best.thread[0]];
	last->open[last->opens - 1].chain = keep(locks->chains, &on.best);
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
