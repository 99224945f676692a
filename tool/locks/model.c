/* SPDX-License-Identifier: MIT */
#include "tool/locks/model.h"

#include <errno.h>
#include <stdlib.h>

#include "tool/base/memory.h"
#include "tool/locks/chain.h"
#include "tool/locks/holds.h"
#include "tool/locks/order.h"

void locks_begin(struct locks *locks)
{
	*locks = (struct locks){ .hold_free = LOCKS_NONE };
	locks->order = memory_zeroed(1, sizeof(*locks->order));
	locks->order->free = LOCKS_NONE;
	locks->chains = memory_zeroed(1, sizeof(*locks->chains));
}

void locks_free(struct locks *locks)
{
	for (uint32_t i = 0; i < locks->locks; i++)
		free(locks->lock[i].waiter);
	for (uint32_t i = 0; i < locks->threads; i++)
		free(locks->thread[i].slot);
	free(locks->lock);
	free(locks->current);
	free(locks->thread);
	free(locks->holder);
	free(locks->hold);
	free(locks->place);
	hash_free(&locks->by_address);
	hash_free(&locks->by_tid);
	hash_free(&locks->by_holder);
	order_free(locks->order);
	free(locks->order);
	free(locks->chains);
}

/* ---- what there is ---- */

uint32_t locks_thread(struct locks *locks, uint32_t process, uint32_t tid)
{
	uint32_t hash = hash_key(process, tid);
	uint32_t found = HASH_FIND(i, &locks->by_tid, hash,
		locks->thread[i].tid == tid && locks->thread[i].process == process);

	if (found != HASH_NONE)
		return found;
	locks->thread = memory_grow(locks->thread, locks->threads, sizeof(*locks->thread));
	locks->thread[locks->threads] =
		(struct locks_thread){ .process = process, .tid = tid, .hold_first = LOCKS_NONE };
	memory_hash(&locks->by_tid, hash, locks->threads);
	return locks->threads++;
}

static bool is_about_life(enum locks_act act)
{
	return act == LOCKS_INIT || act == LOCKS_DESTROY;
}

static uint32_t new_lock(struct locks *locks, const struct locks_call *call, enum locks_kind kind, uint64_t address,
	uint32_t life)
{
	locks->lock = memory_grow(locks->lock, locks->locks, sizeof(*locks->lock));
	locks->lock[locks->locks] = (struct locks_lock){
		.process = call->process, .life = life, .address = address, .first = call->time, .kind = kind,
		.made = call->act == LOCKS_INIT && call->address == address,
		.first_place = LOCKS_NONE, .hold_first = LOCKS_NONE, .edge_first = LOCKS_NONE,
	};
	return locks->locks++;
}

static void end_lock(struct locks *locks, uint32_t number)
{
	struct locks_lock *lock = &locks->lock[number];

	while (lock->hold_first != LOCKS_NONE)
		holds_forget(locks, lock->hold_first);
	order_remove(locks, number);
	lock->over = true;
}

/* The lock that lies there now; it begins if there is none. */
static uint32_t lock_at(struct locks *locks, const struct locks_call *call, enum locks_kind kind, uint64_t address)
{
	uint32_t hash = hash_key(address, call->process);
	uint32_t found = HASH_FIND(i, &locks->by_address, hash,
		locks->current[i].address == address && locks->current[i].process == call->process);

	if (found == HASH_NONE) {
		locks->current = memory_grow(locks->current, locks->currents, sizeof(*locks->current));
		locks->current[locks->currents] = (struct locks_current){
			.process = call->process, .address = address,
			.lock = new_lock(locks, call, kind, address, 0),
		};
		memory_hash(&locks->by_address, hash, locks->currents);
		found = locks->currents++;
	}
	struct locks_current *current = &locks->current[found];
	struct locks_lock *lock = &locks->lock[current->lock];
	/* Memory that is something else now: it was given back without a word. */
	if (lock->over || lock->kind != kind) {
		if (!lock->over)
			end_lock(locks, current->lock);
		current->lock = new_lock(locks, call, kind, address, lock->life + 1);
		lock = &locks->lock[current->lock];
	}
	if (lock->first_place == LOCKS_NONE && !is_about_life(call->act))
		lock->first_place = call->place;
	return current->lock;
}

const struct locks_open *locks_waiting(const struct locks *locks, uint32_t thread)
{
	const struct locks_thread *t = &locks->thread[thread];
	const struct locks_open *open = t->opens ? &t->open[t->opens - 1] : NULL;

	return open && holds_may_wait(open) && open->waits ? open : NULL;
}

/* ---- calls ---- */

static void begin_to_want(struct locks *locks, const struct locks_call *call, struct locks_open *open)
{
	struct locks_lock *lock = &locks->lock[open->lock];
	bool own = false;

	if (lock->kind == LOCKS_SEMAPHORE) {
		lock->waiter = memory_grow(lock->waiter, lock->waiters, sizeof(*lock->waiter));
		lock->waiter[lock->waiters++] = call->thread;
		return;
	}
	for (uint32_t i = lock->hold_first; i != LOCKS_NONE; i = locks->hold[i].next_of_lock) {
		struct locks_hold *hold = &locks->hold[i];
		if (hold->thread == call->thread) {
			own = true;
		} else if (locks_excludes(hold->reads, locks_act_reads(call->act))) {
			open->waits = true;
			hold->waiters++;
		}
	}
	lock->waiter = memory_grow(lock->waiter, lock->waiters, sizeof(*lock->waiter));
	lock->waiter[lock->waiters++] = call->thread;
	if (!own && locks->thread[call->thread].hold_first != LOCKS_NONE)
		order_want(locks, call, open->lock);
	if (open->waits)
		chain_look(locks, call->thread, call->time);
}

static void begin_to_unlock(struct locks *locks, const struct locks_call *call, struct locks_open *open)
{
	uint32_t own = holds_of(locks, call->thread, open->lock);

	if (own != LOCKS_NONE)
		holds_unlock(locks, own, call->time);
	else
		open->foreign = true;
}

/* The mutex is free while its thread waits for a condition; others that it holds are not. */
static void begin_to_wait(struct locks *locks, const struct locks_call *call, struct locks_open *open)
{
	open->mutex = lock_at(locks, call, LOCKS_MUTEX, call->mutex);
	uint32_t own = holds_of(locks, call->thread, open->mutex);
	if (own != LOCKS_NONE && !holds_unlock(locks, own, call->time))
		return;
	if (locks->thread[call->thread].hold_first != LOCKS_NONE)
		order_want(locks, call, open->mutex);
}

static void post(struct locks *locks, uint32_t number)
{
	struct locks_lock *lock = &locks->lock[number];

	lock->posts++;
	for (uint32_t i = 0; i < lock->waiters; i++)
		holds_waiter_call(locks, lock->waiter[i], number)->waits = true;
}

/* A call in one of its own kind, about the same lock: the one around it is what the program called. */
static bool is_inner(const struct locks_thread *thread, const struct locks_call *call)
{
	const struct locks_open *around = thread->opens ? &thread->open[thread->opens - 1] : NULL;

	return around && around->kind == call->kind && around->address == call->address;
}

void locks_enter(struct locks *locks, const struct locks_call *call)
{
	struct locks_thread *thread = &locks->thread[call->thread];

	thread->last = call->time;
	if (thread->opens == LOCKS_OPEN_MOST) {
		thread->deeper++;
		return;
	}
	struct locks_open *open = &thread->open[thread->opens];
	*open = (struct locks_open){
		.kind = call->kind, .act = call->act, .time = call->time, .address = call->address,
		.mutex = LOCKS_NONE, .place = call->place, .chain = LOCKS_NONE, .inner = is_inner(thread, call),
	};
	thread->opens++;
	if (open->inner)
		return;
	open->lock = lock_at(locks, call, call->kind, call->address);
	switch (call->act) {
	case LOCKS_LOCK:
	case LOCKS_READ:
		begin_to_want(locks, call, open);
		break;
	case LOCKS_UNLOCK:
		begin_to_unlock(locks, call, open);
		break;
	case LOCKS_WAIT:
		begin_to_wait(locks, call, open);
		break;
	case LOCKS_POST:
		post(locks, open->lock);
		break;
	default:
		break;
	}
}

static void add_place(struct locks *locks, const struct locks_open *open)
{
	struct locks_place *place = holds_place(locks, open->place);

	place->calls++;
	if (place->lock == LOCKS_NONE)
		place->lock = open->lock;
	else
		place->several |= place->lock != open->lock;
}

static void add_wait(struct locks *locks, uint32_t thread, const struct locks_open *open, uint64_t time)
{
	uint32_t holder = holds_holder(locks, open->lock, thread);

	locks_add(&locks->lock[open->lock].wait, time);
	locks_add(&locks->holder[holder].wait, time);
	locks_add(&holds_place(locks, open->place)->wait, time);
}

static bool has_acquired(const struct locks_open *open, int64_t result, bool unwound)
{
	if (unwound || (result == LOCKS_UNKNOWN && (open->act == LOCKS_TRY || open->act == LOCKS_TRY_READ)))
		return false;
	return result == 0 || result == LOCKS_UNKNOWN || (open->kind == LOCKS_MUTEX && result == EOWNERDEAD);
}

static void remove_waiter(struct locks_lock *lock, uint32_t thread)
{
	uint32_t i = 0;

	while (i < lock->waiters && lock->waiter[i] != thread)
		i++;
	if (i < lock->waiters)
		lock->waiter[i] = lock->waiter[--lock->waiters];
}

static void end_wanting(
	struct locks *locks, uint32_t thread, const struct locks_open *open, uint64_t now, int64_t result, bool unwound)
{
	struct locks_lock *lock = &locks->lock[open->lock];
	uint64_t time = now - open->time;
	bool acquired = has_acquired(open, result, unwound), waits = open->waits;

	lock->calls++;
	add_place(locks, open);
	remove_waiter(lock, thread);
	if (open->chain != LOCKS_NONE)
		chain_waited(locks, open->chain, time);
	/* What it waited for is still held, if it has given up. */
	for (uint32_t i = lock->hold_first; i != LOCKS_NONE && waits && !acquired; i = locks->hold[i].next_of_lock)
		if (locks->hold[i].thread != thread)
			holds_charge(&locks->hold[i], open, now);
	/* Nobody holds a semaphore: that it came to nothing tells that there was something to wait for. */
	waits |= lock->kind == LOCKS_SEMAPHORE && !acquired;
	if (waits)
		add_wait(locks, thread, open, time);
	else
		locks_add(&lock->cost, time);
	lock->timed_out += !acquired && waits;
	if (acquired && lock->kind != LOCKS_SEMAPHORE)
		holds_acquire(locks, thread, open, open->lock, now, result == EOWNERDEAD);
}

static void end_trying(
	struct locks *locks, uint32_t thread, const struct locks_open *open, uint64_t now, int64_t result, bool unwound)
{
	struct locks_lock *lock = &locks->lock[open->lock];

	lock->calls++;
	add_place(locks, open);
	locks_add(&lock->cost, now - open->time);
	if (!has_acquired(open, result, unwound))
		lock->busy++;
	else if (lock->kind != LOCKS_SEMAPHORE)
		holds_acquire(locks, thread, open, open->lock, now, result == EOWNERDEAD);
}

static void end_waiting(
	struct locks *locks, uint32_t thread, const struct locks_open *open, uint64_t now, int64_t result)
{
	struct locks_lock *lock = &locks->lock[open->lock];

	lock->calls++;
	add_place(locks, open);
	add_wait(locks, thread, open, now - open->time);
	lock->timed_out += result == ETIMEDOUT;
	/* Also where it was unwound: by the cancellation of its thread, which has the mutex in its handlers. */
	holds_acquire(locks, thread, open, open->mutex, now, result == EOWNERDEAD);
}

/* Its holder may have been another thread, as mutexes of the plain type allow. */
static void end_unlocking(struct locks *locks, const struct locks_open *open, int64_t result)
{
	struct locks_lock *lock = &locks->lock[open->lock];

	if (!open->foreign || (result && result != LOCKS_UNKNOWN) || lock->hold_first == LOCKS_NONE ||
		lock->kind == LOCKS_RWLOCK)
		return;
	/* Somebody got it after this call had begun: it has unlocked nothing of his. */
	if (locks->hold[lock->hold_first].since > open->time)
		return;
	lock->foreign++;
	holds_release(locks, lock->hold_first, open->time);
}

void locks_leave(struct locks *locks, uint32_t thread, uint64_t now, int64_t result, bool unwound)
{
	struct locks_thread *t = &locks->thread[thread];

	t->last = now;
	if (t->deeper) {
		t->deeper--;
		return;
	}
	if (!t->opens)
		return;
	/* No more among the open ones: who waits for this thread does not wait for this call. */
	const struct locks_open open = t->open[--t->opens];
	if (open.inner)
		return;
	switch (open.act) {
	case LOCKS_LOCK:
	case LOCKS_READ:
		end_wanting(locks, thread, &open, now, result, unwound);
		break;
	case LOCKS_TRY:
	case LOCKS_TRY_READ:
		end_trying(locks, thread, &open, now, result, unwound);
		break;
	case LOCKS_WAIT:
		end_waiting(locks, thread, &open, now, result);
		break;
	case LOCKS_UNLOCK:
		end_unlocking(locks, &open, result);
		break;
	case LOCKS_INIT:
	case LOCKS_DESTROY:
		/* One that is new anyway stays. */
		if ((!result || result == LOCKS_UNKNOWN) && !locks->lock[open.lock].over &&
			(open.act == LOCKS_DESTROY || locks->lock[open.lock].first != open.time))
			end_lock(locks, open.lock);
		break;
	default:
		break;
	}
}

void locks_forget(struct locks *locks, uint32_t thread)
{
	struct locks_thread *t = &locks->thread[thread];

	for (uint32_t i = 0; i < t->opens; i++)
		if (holds_may_wait(&t->open[i]))
			remove_waiter(&locks->lock[t->open[i].lock], thread);
	t->opens = t->deeper = t->depth = 0;
	while (t->hold_first != LOCKS_NONE)
		holds_forget(locks, t->hold_first);
}

/* A call for a lock that the end of the trace finds open. */
static void end_open(struct locks *locks, uint32_t thread, const struct locks_open *open, uint64_t now)
{
	bool own = holds_of(locks, thread, open->lock) != LOCKS_NONE;

	if (!holds_may_wait(open) || (!open->waits && !own && locks->lock[open->lock].kind != LOCKS_SEMAPHORE))
		return;
	if (locks->stucks < LOCKS_TOP)
		locks->stuck[locks->stucks++] =
			(struct locks_stuck){ thread, open->lock, open->place, own, open->time };
	locks->stuck_all++;
	locks->lock[open->lock].calls++;
	add_place(locks, open);
	add_wait(locks, thread, open, now - open->time);
	if (open->chain != LOCKS_NONE)
		chain_waited(locks, open->chain, now - open->time);
}

void locks_end(struct locks *locks, uint32_t process, uint64_t now)
{
	for (uint32_t i = 0; i < locks->threads; i++)
		for (uint32_t k = 0; k < locks->thread[i].opens && locks->thread[i].process == process; k++)
			end_open(locks, i, &locks->thread[i].open[k], now);
	for (uint32_t i = 0; i < locks->threads; i++)
		while (locks->thread[i].process == process && locks->thread[i].hold_first != LOCKS_NONE)
			holds_leave_behind(locks, locks->thread[i].hold_first, now);
}
