/* SPDX-License-Identifier: MIT */
#include "tool/locks/holds.h"

#include <string.h>

#include "tool/base/memory.h"
#include "tool/locks/chain.h"
#include "tool/locks/meanwhile.h"

struct locks_place *holds_place(struct locks *locks, uint32_t place)
{
	if (place >= locks->places) {
		uint32_t places = (place + 16) * 2;
		locks->place = memory_resize(locks->place, places, sizeof(*locks->place));
		memset(locks->place + locks->places, 0, (places - locks->places) * sizeof(*locks->place));
		for (uint32_t i = locks->places; i < places; i++)
			locks->place[i].lock = LOCKS_NONE;
		locks->places = places;
	}
	return &locks->place[place];
}

void holds_forget(struct locks *locks, uint32_t number)
{
	struct locks_hold *hold = &locks->hold[number];
	uint32_t *at = &locks->lock[hold->lock].hold_first;

	while (*at != number)
		at = &locks->hold[*at].next_of_lock;
	*at = hold->next_of_lock;
	at = &locks->thread[hold->thread].hold_first;
	while (*at != number)
		at = &locks->hold[*at].next_of_thread;
	*at = hold->next_of_thread;
	hold->next_of_lock = locks->hold_free;
	locks->hold_free = number;
}

uint32_t holds_holder(struct locks *locks, uint32_t lock, uint32_t thread)
{
	uint32_t hash = hash_key(lock, thread);
	uint32_t found = HASH_FIND(i, &locks->by_holder, hash,
		locks->holder[i].lock == lock && locks->holder[i].thread == thread);

	if (found != HASH_NONE)
		return found;
	locks->holder = memory_grow(locks->holder, locks->holders, sizeof(*locks->holder));
	locks->holder[locks->holders] = (struct locks_holder){ .lock = lock, .thread = thread };
	memory_hash(&locks->by_holder, hash, locks->holders);
	return locks->holders++;
}

uint32_t holds_of(const struct locks *locks, uint32_t thread, uint32_t lock)
{
	uint32_t i = locks->thread[thread].hold_first;

	while (i != LOCKS_NONE && locks->hold[i].lock != lock)
		i = locks->hold[i].next_of_thread;
	return i;
}

struct locks_open *holds_waiter_call(struct locks *locks, uint32_t thread, uint32_t lock)
{
	struct locks_thread *t = &locks->thread[thread];

	for (uint32_t i = t->opens; i--;)
		if (t->open[i].lock == lock && holds_may_wait(&t->open[i]))
			return &t->open[i];
	return NULL;
}

void holds_charge(struct locks_hold *hold, const struct locks_open *open, uint64_t now)
{
	uint64_t from = open->time > hold->since ? open->time : hold->since;

	if (locks_excludes(hold->reads, locks_act_reads(open->act)) && now > from)
		hold->waited += now - from;
}

static void keep_top(struct locks *locks, const struct locks_hold *hold)
{
	uint32_t at = locks->tops;

	while (at && (locks->top[at - 1].waited < hold->waited ||
			     (locks->top[at - 1].waited == hold->waited && locks->top[at - 1].since > hold->since)))
		at--;
	if (at == LOCKS_TOP)
		return;
	locks->tops += locks->tops < LOCKS_TOP;
	memmove(&locks->top[at + 1], &locks->top[at], (locks->tops - 1 - at) * sizeof(*locks->top));
	locks->top[at] = *hold;
}

void holds_release(struct locks *locks, uint32_t number, uint64_t now)
{
	struct locks_hold *hold = &locks->hold[number];
	struct locks_lock *lock = &locks->lock[hold->lock];
	uint64_t time = now > hold->since ? now - hold->since : 0;

	for (uint32_t i = 0; i < lock->waiters; i++)
		if (lock->waiter[i] != hold->thread)
			holds_charge(hold, holds_waiter_call(locks, lock->waiter[i], hold->lock), now);
	hold->until = now;
	locks_add(&lock->hold, time);
	locks_add(&locks->holder[hold->holder].hold, time);
	struct locks_place *place = holds_place(locks, hold->place);
	locks_add(&place->hold, time);
	if (hold->waiters) {
		locks->holder[hold->holder].waited += hold->waited;
		place->waited += hold->waited;
		meanwhile_release(locks, hold, now);
		keep_top(locks, hold);
	}
	holds_forget(locks, number);
}

void holds_leave_behind(struct locks *locks, uint32_t number, uint64_t now)
{
	if (locks->lefts < LOCKS_TOP) {
		locks->left[locks->lefts] = locks->hold[number];
		locks->left[locks->lefts++].until = now;
	}
	locks->left_all++;
	holds_release(locks, number, now);
}

/* Somebody else got the lock: the end of this hold is not in the trace, or its thread ended in it. */
static void end_hold(struct locks *locks, uint32_t number, bool owner_died)
{
	const struct locks_hold *hold = &locks->hold[number];
	uint64_t last = locks->thread[hold->thread].last;

	if (owner_died)
		holds_leave_behind(locks, number, last > hold->since ? last : hold->since);
	else
		holds_forget(locks, number);
}

/* Those who wait for the lock wait for this hold from now on, too. */
static void hold_up(struct locks *locks, uint32_t number, uint64_t now)
{
	/* What is looked for below changes neither holds nor waiters. */
	struct locks_hold *hold = &locks->hold[number];
	const struct locks_lock *lock = &locks->lock[hold->lock];

	for (uint32_t i = 0; i < lock->waiters; i++) {
		if (lock->waiter[i] == hold->thread)
			continue;
		struct locks_open *open = holds_waiter_call(locks, lock->waiter[i], hold->lock);
		if (!locks_excludes(hold->reads, locks_act_reads(open->act)))
			continue;
		open->waits = true;
		hold->waiters++;
		/* The holder waits for nobody now; so a chain is one that leads to this waiter. */
		if (locks->thread[lock->waiter[i]].hold_first != LOCKS_NONE)
			chain_look(locks, lock->waiter[i], now);
	}
}

void holds_acquire(struct locks *locks, uint32_t thread, const struct locks_open *open, uint32_t number, uint64_t now,
	bool owner_died)
{
	bool reads = locks_act_reads(open->act);
	uint32_t own = holds_of(locks, thread, number), next;
	struct locks_lock *lock = &locks->lock[number];

	for (uint32_t i = lock->hold_first; i != LOCKS_NONE; i = next) {
		next = locks->hold[i].next_of_lock;
		if (i != own && locks_excludes(locks->hold[i].reads, reads))
			end_hold(locks, i, owner_died);
	}
	if (own != LOCKS_NONE && (lock->kind != LOCKS_RWLOCK || reads)) {
		locks->hold[own].count++;
		return;
	}
	if (own != LOCKS_NONE)
		holds_forget(locks, own);
	if (locks->hold_free == LOCKS_NONE) {
		locks->hold = memory_grow(locks->hold, locks->holds, sizeof(*locks->hold));
		own = locks->holds++;
	} else {
		own = locks->hold_free;
		locks->hold_free = locks->hold[own].next_of_lock;
	}
	struct locks_thread *t = &locks->thread[thread];
	uint32_t holder = holds_holder(locks, number, thread);
	lock->holders += !locks->holder[holder].held;
	locks->holder[holder].held = true;
	locks->hold[own] = (struct locks_hold){
		.lock = number, .thread = thread, .place = open->place, .count = 1, .reads = reads, .since = now,
		.holder = holder,
		.next_of_lock = lock->hold_first, .next_of_thread = t->hold_first,
	};
	lock->hold_first = own;
	t->hold_first = own;
	if (lock->waiters)
		hold_up(locks, own, now);
}

bool holds_unlock(struct locks *locks, uint32_t number, uint64_t now)
{
	if (--locks->hold[number].count)
		return false;
	holds_release(locks, number, now);
	return true;
}
