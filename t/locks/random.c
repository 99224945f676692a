/* SPDX-License-Identifier: MIT */
/* The model of locks beside sums that are found in another way, and told of what no program does. */
#include "tool/locks/model.h"

#include <errno.h>

#include "t/locks/told.h"

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % below);
}

#define USERS 8
#define USES  20000

static struct use {
	uint64_t begin, got, until; /* the call, and the end of the hold */
} use[USES];

/*
 * Threads that take one mutex in any order, and what that adds up to by looking at each pair of a call and a hold: only
 * those near each other can overlap, since each thread has one at a time.
 */
static void add_up(void)
{
	struct locks_sum wait = { 0 }, cost = { 0 }, hold = { 0 };
	uint64_t now = 0, others = 0;
	uint32_t state[USERS] = { 0 }, at[USERS], holder = USERS, uses = 0, holds = 0;

	begin("a mutex that eight threads take 20000 times");
	while (holds < USES) {
		uint32_t tid = any(USERS);
		now += 1 + any(9);
		if (state[tid] == 0 && uses < USES && !any(100)) {
			at[tid] = uses;
			use[uses++].begin = now;
			state[tid] = 1;
			enter(tid, LOCKS_LOCK, LOCKS_MUTEX, A, now);
		} else if (state[tid] == 1 && holder == USERS) {
			use[at[tid]].got = now;
			holder = tid;
			state[tid] = 2;
			leave(tid, now, 0);
		} else if (state[tid] == 2 && !any(4)) {
			use[at[tid]].until = now;
			holder = USERS;
			holds++;
			state[tid] = 0;
			unlock(tid, A, now);
		}
	}
	for (uint32_t i = 0; i < USES; i++) {
		bool waits = false;
		for (uint32_t k = 0; k < USES; k++) {
			uint64_t from = use[i].begin > use[k].got ? use[i].begin : use[k].got;
			uint64_t to = use[i].got < use[k].until ? use[i].got : use[k].until;
			if (i == k || from >= to)
				continue;
			waits = true;
			others += to - from;
		}
		locks_add(waits ? &wait : &cost, use[i].got - use[i].begin);
		locks_add(&hold, use[i].until - use[i].got);
	}
	sum_is(&lock_of(A)->wait, wait.count, wait.total, wait.max, "waits");
	sum_is(&lock_of(A)->cost, cost.count, cost.total, cost.max, "calls that do not wait");
	sum_is(&lock_of(A)->hold, hold.count, hold.total, hold.max, "holds");
	ok(wait.count > USES / 10 && cost.count > USES / 10, "both occur");
	uint64_t told = 0, placed = 0;
	for (uint32_t i = 0; i < locks.holders; i++)
		told += locks.holder[i].waited;
	for (uint32_t i = 0; i < locks.places; i++)
		placed += locks.place[i].waited;
	ok(told == others && placed == others, "others waited %llu for holders", (unsigned long long)others);
	locks_free(&locks);
}

/* Calls that no program makes: what is added up in several ways is the same, and nothing grows. */
static void nonsense(void)
{
	static const enum locks_act acts[LOCKS_KINDS][8] = {
		{ LOCKS_LOCK, LOCKS_LOCK, LOCKS_TRY, LOCKS_UNLOCK, LOCKS_UNLOCK, LOCKS_UNLOCK, LOCKS_LOCK, LOCKS_INIT },
		{ LOCKS_LOCK, LOCKS_READ, LOCKS_TRY_READ, LOCKS_UNLOCK, LOCKS_UNLOCK, LOCKS_TRY, LOCKS_READ,
			LOCKS_DESTROY },
		{ LOCKS_LOCK, LOCKS_UNLOCK, LOCKS_TRY, LOCKS_UNLOCK, LOCKS_LOCK, LOCKS_UNLOCK, LOCKS_LOCK,
			LOCKS_DESTROY },
		{ LOCKS_WAIT, LOCKS_WAIT, LOCKS_WAIT, LOCKS_WAIT, LOCKS_WAIT, LOCKS_INIT, LOCKS_WAIT, LOCKS_DESTROY },
		{ LOCKS_LOCK, LOCKS_POST, LOCKS_TRY, LOCKS_POST, LOCKS_LOCK, LOCKS_POST, LOCKS_LOCK, LOCKS_INIT },
	};
	static const int64_t results[] = { 0, 0, 0, 0, EBUSY, ETIMEDOUT, EOWNERDEAD, LOCKS_UNKNOWN, -1 };
	uint64_t now = 0, by_lock = 0, by_place = 0, by_holder = 0, held = 0;
	bool sorted = true;

	begin("a million calls at random");
	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t tid = any(20), where = any(12);
		enum locks_kind kind = (enum locks_kind)(where == 11 ? any(LOCKS_KINDS) : where % LOCKS_KINDS);
		now += any(3);
		if (any(2))
			enter(tid, acts[kind][any(8)], kind, A + 64 * where, now);
		else
			locks_leave(&locks, locks_thread(&locks, 0, tid), now, results[any(9)], !any(50));
		if (!any(2000))
			locks_forget(&locks, locks_thread(&locks, 0, tid));
	}
	locks_end(&locks, 0, now);
	uint32_t open = 0;
	for (uint32_t i = 0; i < locks.locks; i++) {
		by_lock += locks.lock[i].wait.total;
		held += locks.lock[i].hold.total;
		open += locks.lock[i].hold_first != LOCKS_NONE;
	}
	for (uint32_t i = 0; i < locks.places; i++)
		by_place += locks.place[i].wait.total;
	for (uint32_t i = 0; i < locks.holders; i++)
		by_holder += locks.holder[i].hold.total;
	for (uint32_t i = 1; i < locks.tops; i++)
		sorted &= locks.top[i - 1].waited >= locks.top[i].waited;
	is_int(open, 0, "nothing is held after the end");
	ok(by_lock == by_place, "waits are the same by lock and by place");
	ok(held == by_holder, "holds by lock and by holder");
	ok(sorted && locks.tops == LOCKS_TOP, "the longest come first");
	ok(locks.holds <= 20 * 12, "there were up to %u holds at once", locks.holds);
	locks_free(&locks);
}

int main(void)
{
	add_up();
	nonsense();
	return done_testing();
}
