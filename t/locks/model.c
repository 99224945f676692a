/* SPDX-License-Identifier: MIT */
/* The model of locks, told of calls at known times: what it adds up, chains, inversions, what is left. */
#include "tool/locks/model.h"

#include <errno.h>
#include <stdlib.h>

#include "t/locks/told.h"
#include "tool/locks/chain.h"
#include "tool/locks/meanwhile.h"
#include "tool/locks/order.h"

static void waits(void)
{
	begin("three threads, one lock");
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 100);
	leave(1, 110, 0);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 120);
	enter(3, LOCKS_LOCK, LOCKS_MUTEX, A, 150);
	unlock(1, A, 200);
	leave(2, 210, 0);
	unlock(2, A, 240);
	leave(3, 245, 0);
	unlock(3, A, 250);
	const struct locks_lock *a = lock_of(A);
	is_int((long long)a->calls, 3, "calls");
	sum_is(&a->wait, 2, 90 + 95, 95, "waits");
	sum_is(&a->cost, 1, 10, 10, "the free call");
	sum_is(&a->hold, 3, 90 + 30 + 5, 90, "holds");
	is_int(a->holders, 3, "holders");
	is_int(locks.tops, 2, "holds in which others waited");
	is_int((long long)locks.top[0].waited, 80 + 50, "in the first, two waited from their begin to its end");
	is_int(locks.top[0].waiters, 2, "two");
	is_int((long long)locks.top[1].waited, 30, "in the second one waited for all of it");
	is_int((long long)locks.place[2].wait.total, 90, "a place has its waits");
	is_int((long long)locks.place[1].waited, 130, "and what others waited for it");
	locks_free(&locks);

	begin("who came second was faster");
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 100);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 101);
	leave(2, 105, 0);
	unlock(2, A, 140);
	leave(1, 142, 0);
	sum_is(&lock_of(A)->wait, 1, 42, 42, "the first one waits");
	sum_is(&lock_of(A)->cost, 1, 4, 4, "the second does not");
	is_int((long long)locks.top[0].waited, 35, "for all of the hold");
	locks_free(&locks);
}

static void recursion(void)
{
	begin("a recursive mutex");
	lock(1, A, 10);
	lock(1, A, 20);
	unlock(1, A, 30);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 35);
	unlock(1, A, 50);
	leave(2, 51, 0);
	unlock(2, A, 60);
	sum_is(&lock_of(A)->hold, 2, 40 + 9, 40, "it is held until the last unlock");
	sum_is(&lock_of(A)->wait, 1, 16, 16, "for which others wait");
	is_int(locks.order->inversions, 0, "no order with itself");
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 70);
	leave(1, 71, 0);
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 72);
	leave(1, 73, EDEADLK);
	unlock(1, A, 80);
	sum_is(&lock_of(A)->hold, 3, 40 + 9 + 9, 40, "EDEADLK locks nothing");
	locks_free(&locks);
}

static void failures(void)
{
	begin("calls that do not get it");
	lock(1, A, 0);
	enter(2, LOCKS_TRY, LOCKS_MUTEX, A, 10);
	leave(2, 12, EBUSY);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 20);
	leave(2, 50, ETIMEDOUT);
	unlock(2, A, 60); /* what it does not have: EPERM would be the result */
	const struct locks_lock *a = lock_of(A);
	is_int((long long)a->busy, 1, "busy");
	is_int((long long)a->timed_out, 1, "timed out");
	sum_is(&a->wait, 1, 30, 30, "that is a wait");
	sum_is(&a->hold, 1, 60, 60, "a plain mutex is unlocked by anybody");
	is_int((long long)a->foreign, 1, "which is told");
	is_int((long long)locks.top[0].waited, 30, "who gave up has waited for the holder");
	enter(2, LOCKS_TRY, LOCKS_MUTEX, A, 70);
	leave(2, 71, 0);
	enter(1, LOCKS_UNLOCK, LOCKS_MUTEX, A, 80);
	leave(1, 81, EPERM);
	unlock(2, A, 90);
	sum_is(&a->hold, 2, 60 + 19, 60, "one that was refused ends no hold");
	locks_free(&locks);

	begin("a holder that has ended");
	lock(1, A, 0);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 20);
	leave(2, 30, EOWNERDEAD);
	unlock(2, A, 37);
	is_int(locks.lefts, 1, "left");
	is_int((int)locks.thread[locks.left[0].thread].tid, 1, "by the first one");
	sum_is(&lock_of(A)->hold, 2, 7, 7, "the second one holds it");
	locks_free(&locks);
}

static void readers(void)
{
	begin("a lock with readers");
	at_once(1, LOCKS_READ, LOCKS_RWLOCK, A, 10);
	at_once(2, LOCKS_READ, LOCKS_RWLOCK, A, 20);
	enter(3, LOCKS_LOCK, LOCKS_RWLOCK, A, 30);
	at_once(1, LOCKS_READ, LOCKS_RWLOCK, A, 32);
	at_once(1, LOCKS_UNLOCK, LOCKS_RWLOCK, A, 40);
	at_once(1, LOCKS_UNLOCK, LOCKS_RWLOCK, A, 50);
	at_once(2, LOCKS_UNLOCK, LOCKS_RWLOCK, A, 70);
	leave(3, 71, 0);
	enter(1, LOCKS_READ, LOCKS_RWLOCK, A, 80);
	at_once(3, LOCKS_UNLOCK, LOCKS_RWLOCK, A, 100);
	leave(1, 101, 0);
	const struct locks_lock *a = lock_of(A);
	sum_is(&a->wait, 2, 41 + 21, 41, "the writer waits for readers, and a reader for the writer");
	sum_is(&a->cost, 3, 0, 0, "readers do not wait for readers");
	sum_is(&a->hold, 3, 40 + 50 + 29, 50, "each has its hold");
	is_int((long long)locks.top[0].waited, 40, "the second reader kept the writer waiting longest");
	is_int((long long)locks.top[1].waited, 20, "then the first");
	locks_free(&locks);
}

static void conditions(void)
{
	begin("a condition");
	lock(1, A, 0);
	enter(1, LOCKS_WAIT, LOCKS_CONDITION, C, 10);
	lock(2, A, 20);
	unlock(2, A, 30);
	leave(1, 60, 0);
	enter(1, LOCKS_WAIT, LOCKS_CONDITION, C, 70);
	leave(1, 90, ETIMEDOUT);
	unlock(1, A, 100);
	sum_is(&lock_of(A)->hold, 4, 10 + 10 + 10 + 10, 10, "who waits for it does not hold the mutex");
	sum_is(&lock_of(A)->wait, 0, 0, 0, "nor wait for that");
	sum_is(&lock_of(C)->wait, 2, 50 + 20, 50, "but for the condition");
	is_int((long long)lock_of(C)->timed_out, 1, "once in vain");
	locks_free(&locks);

	begin("a condition whose mutex is locked twice");
	lock(1, A, 0);
	lock(1, A, 1);
	enter(1, LOCKS_WAIT, LOCKS_CONDITION, C, 10);
	leave(1, 60, 0);
	unlock(1, A, 70);
	unlock(1, A, 80);
	sum_is(&lock_of(A)->hold, 1, 80, 80, "it is never free");
	locks_free(&locks);
}

static void semaphores(void)
{
	begin("a semaphore");
	at_once(1, LOCKS_LOCK, LOCKS_SEMAPHORE, D, 0);
	enter(1, LOCKS_LOCK, LOCKS_SEMAPHORE, D, 10);
	at_once(2, LOCKS_POST, LOCKS_SEMAPHORE, D, 50);
	leave(1, 55, 0);
	enter(1, LOCKS_LOCK, LOCKS_SEMAPHORE, D, 60);
	leave(1, 90, -1);
	enter(1, LOCKS_TRY, LOCKS_SEMAPHORE, D, 95);
	leave(1, 95, -1);
	const struct locks_lock *d = lock_of(D);
	sum_is(&d->wait, 2, 45 + 30, 45, "waits for a post, or in vain");
	is_int((long long)d->timed_out, 1, "once in vain");
	is_int((long long)d->busy, 1, "a try that fails");
	is_int((long long)d->posts, 1, "posts");
	sum_is(&d->hold, 0, 0, 0, "nobody holds it");
	locks_free(&locks);
}

static void chains(void)
{
	begin("a chain of three waits");
	lock(1, A, 0);
	lock(2, B, 1);
	lock(3, C, 2);
	enter(3, LOCKS_LOCK, LOCKS_MUTEX, B, 10); /* 3 for 2 */
	enter(4, LOCKS_LOCK, LOCKS_MUTEX, C, 20); /* 4 for 3 for 2 */
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 30); /* and 2 for 1 */
	unlock(1, A, 40);
	leave(2, 41, 0);
	unlock(2, A, 50);
	unlock(2, B, 60);
	leave(3, 61, 0);
	unlock(3, C, 70);
	leave(4, 75, 0);
	const struct locks_chain *chain = locks.chains->chain;
	uint32_t whole = 0;
	for (uint32_t i = 0; i < locks.chains->chains; i++)
		if (!chain_is_part(locks.chains, i))
			whole++, chain = &locks.chains->chain[i];
	is_int(whole, 1, "one chain is no part of another");
	is_int(chain->waits, 3, "of three waits");
	uint32_t tids[4], want[4] = { 4, 3, 2, 1 };
	for (int i = 0; i < 4; i++)
		tids[i] = locks.thread[chain->thread[i]].tid;
	ok(!memcmp(tids, want, sizeof(tids)), "4 waits for 3 for 2 for 1");
	ok(locks.lock[chain->lock[0]].address == C && locks.lock[chain->lock[1]].address == B &&
			locks.lock[chain->lock[2]].address == A, "by C, B, A");
	is_int((long long)chain->first, 30, "from then on");
	is_int((long long)chain->longest, 55, "and 4 has waited so long");
	ok(!chain->circle, "that is no circle");
	is_int(locks.order->inversions, 0, "and no inversion");
	locks_free(&locks);

	begin("a deadlock");
	lock(1, A, 0);
	lock(2, B, 1);
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, B, 10);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 20);
	locks_end(&locks, 0, 100);
	is_int(locks.chains->chains, 1, "one chain");
	ok(locks.chains->chain[0].circle && locks.chains->chain[0].waits == 2, "a circle of two");
	is_int(locks.stucks, 2, "both wait at the end");
	is_int(locks.lefts, 2, "both locks are held then");
	sum_is(&lock_of(A)->wait, 1, 80, 80, "up to then");
	sum_is(&lock_of(A)->hold, 1, 100, 100, "as was held");
	is_int(locks.order->inversions, 1, "and it is an inversion");
	locks_free(&locks);

	begin("a deadlock with one of several readers");
	at_once(1, LOCKS_READ, LOCKS_RWLOCK, A, 0);
	at_once(2, LOCKS_READ, LOCKS_RWLOCK, A, 1);
	at_once(3, LOCKS_READ, LOCKS_RWLOCK, A, 2);
	lock(4, B, 3);
	enter(4, LOCKS_LOCK, LOCKS_RWLOCK, A, 10); /* 4 for 1, 2 and 3 */
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, B, 20); /* and 2 for 4 */
	is_int(locks.chains->chains, 1, "is found");
	ok(locks.chains->chain[0].circle && locks.chains->chain[0].waits == 2, "a circle of two");
	locks_free(&locks);

	begin("a chain through one of several readers");
	lock(5, B, 0);
	at_once(1, LOCKS_READ, LOCKS_RWLOCK, A, 1);
	at_once(2, LOCKS_READ, LOCKS_RWLOCK, A, 2);
	at_once(3, LOCKS_READ, LOCKS_RWLOCK, A, 3);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, B, 10);
	enter(4, LOCKS_LOCK, LOCKS_RWLOCK, A, 20);
	is_int(locks.chains->chains, 1, "is found, too");
	chain = locks.chains->chain;
	ok(chain->waits == 2 && locks.thread[chain->thread[1]].tid == 2 && locks.thread[chain->thread[2]].tid == 5,
		"4 waits for 2 for 5");
	locks_free(&locks);

	/* All orders in which they may be met are too many to look at. */
	begin("forty readers of two locks, and writers who wait for all of them");
	for (uint32_t i = 0; i < 40; i++) {
		at_once(100 + i, LOCKS_READ, LOCKS_RWLOCK, A, i);
		at_once(100 + i, LOCKS_READ, LOCKS_RWLOCK, C, i);
	}
	for (uint32_t i = 0; i < 40; i++)
		enter(100 + i, LOCKS_LOCK, LOCKS_RWLOCK, i % 2 ? A : C, 100 + i);
	ok(locks.chains->chains > 0 && locks.chains->chain[0].circle, "are a deadlock, which is found at once");
	locks_free(&locks);

	begin("a thread that waits for itself");
	lock(1, A, 0);
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 10);
	locks_end(&locks, 0, 30);
	ok(locks.stucks == 1 && locks.stuck[0].own, "is told");
	locks_free(&locks);
}

static void both_orders(enum locks_act second, enum locks_kind kind, enum locks_act act)
{
	at_once(1, act, kind, A, 10);
	at_once(1, second, kind, B, 20);
	at_once(1, LOCKS_UNLOCK, kind, B, 30);
	at_once(1, LOCKS_UNLOCK, kind, A, 40);
	at_once(2, act, kind, B, 50);
	at_once(2, second, kind, A, 60);
	at_once(2, LOCKS_UNLOCK, kind, A, 70);
	at_once(2, LOCKS_UNLOCK, kind, B, 80);
}

static void orders(void)
{
	begin("an inversion");
	both_orders(LOCKS_LOCK, LOCKS_MUTEX, LOCKS_LOCK);
	is_int(locks.order->inversions, 1, "is found though nobody has waited");
	const struct order_inversion *inversion = locks.order->inversion;
	is_int(inversion->edges, 2, "of two edges");
	ok(order_gate(locks.order, inversion) == LOCKS_NONE, "without a gate");
	ok(!order_is_one_thread(locks.order, inversion), "by two threads");
	both_orders(LOCKS_LOCK, LOCKS_MUTEX, LOCKS_LOCK);
	is_int(locks.order->inversions, 1, "again it is the same");
	locks_free(&locks);

	begin("the second one is tried");
	both_orders(LOCKS_TRY, LOCKS_MUTEX, LOCKS_LOCK);
	is_int(locks.order->inversions, 0, "no inversion");
	locks_free(&locks);
	begin("both only read");
	both_orders(LOCKS_READ, LOCKS_RWLOCK, LOCKS_READ);
	is_int(locks.order->inversions, 0, "no inversion");
	locks_free(&locks);
	begin("both read what the other writes");
	both_orders(LOCKS_READ, LOCKS_RWLOCK, LOCKS_LOCK);
	is_int(locks.order->inversions, 1, "an inversion");
	locks_free(&locks);

	begin("one thread");
	lock(1, A, 1);
	lock(1, B, 2);
	unlock(1, A, 3);
	lock(1, A, 4);
	is_int(locks.order->inversions, 1, "an inversion");
	ok(order_is_one_thread(locks.order, locks.order->inversion), "of one thread");
	locks_free(&locks);

	begin("under a gate");
	lock(1, C, 1);
	lock(1, A, 2);
	lock(1, B, 3);
	unlock(1, B, 4);
	unlock(1, A, 5);
	unlock(1, C, 6);
	lock(2, C, 7);
	lock(2, B, 8);
	lock(2, A, 9);
	unlock(2, A, 10);
	unlock(2, B, 11);
	unlock(2, C, 12);
	is_int(locks.order->inversions, 1, "it is told");
	uint32_t gate = order_gate(locks.order, locks.order->inversion);
	ok(gate != LOCKS_NONE && locks.lock[gate].address == C, "with the gate");
	lock(2, B, 13);
	lock(2, A, 14);
	ok(order_gate(locks.order, locks.order->inversion) == LOCKS_NONE, "until that is missing once");
	locks_free(&locks);

	begin("a circle of three");
	lock(1, A, 1);
	lock(1, B, 2);
	lock(2, C, 4);
	unlock(1, B, 5);
	unlock(1, A, 6);
	lock(2, A, 7);
	lock(3, B, 8);
	unlock(2, A, 9);
	unlock(2, C, 10);
	lock(3, C, 11);
	is_int(locks.order->inversions, 1, "is one");
	is_int(locks.order->inversion[0].edges, 3, "of three edges");
	locks_free(&locks);
}

static void lives(void)
{
	begin("another lock at the same address");
	at_once(1, LOCKS_INIT, LOCKS_MUTEX, A, 1);
	lock(1, A, 2);
	lock(1, B, 3);
	unlock(1, B, 4);
	unlock(1, A, 5);
	at_once(1, LOCKS_DESTROY, LOCKS_MUTEX, A, 6);
	at_once(2, LOCKS_INIT, LOCKS_MUTEX, A, 7);
	lock(2, B, 8);
	lock(2, A, 9);
	is_int(locks.locks, 3, "counts as another one");
	is_int((long long)lock_of(A)->life, 1, "with its number");
	is_int(locks.order->inversions, 0, "so there is no inversion");
	locks_free(&locks);

	/* A lock that stays, and in it one after another that go. */
	begin("100000 locks in one");
	for (uint32_t i = 0; i < 100000; i++) {
		at_once(1, LOCKS_INIT, LOCKS_MUTEX, B, 10 * i);
		lock(1, A, 10 * i + 1);
		lock(1, B, 10 * i + 2);
		unlock(1, B, 10 * i + 3);
		unlock(1, A, 10 * i + 4);
		at_once(1, LOCKS_DESTROY, LOCKS_MUTEX, B, 10 * i + 5);
	}
	is_int(locks.locks, 100001, "are so many");
	ok(locks.order->edges <= 2048, "of whose order %u edges are kept", locks.order->edges);
	is_int(locks.holds, 2, "and two holds at once");
	locks_free(&locks);
}

static void what_holders_do(void)
{
	begin("calls in a hold");
	uint32_t one = locks_thread(&locks, 0, 1);
	meanwhile_enter(&locks, one, 0, 70, 0);
	lock(1, A, 10);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 20);
	meanwhile_enter(&locks, one, 1, 71, 30);
	meanwhile_leave(&locks, one, 1, 35);
	meanwhile_enter(&locks, one, 1, 72, 40);
	meanwhile_enter(&locks, one, 2, 73, 41);
	meanwhile_leave(&locks, one, 2, 80);
	meanwhile_enter(&locks, one, 2, 74, 81);
	meanwhile_leave(&locks, one, 2, 85);
	meanwhile_leave(&locks, one, 1, 90);
	meanwhile_enter(&locks, one, 1, 75, 91);
	unlock(1, A, 100);
	const struct locks_hold *hold = &locks.top[0];
	ok(hold->path.functions == 2 && hold->path.function[0] == 72 && hold->path.function[1] == 73,
		"the longest, and in it the longest that is at least half of it");
	is_int((long long)hold->busiest, 50, "its time");
	locks_free(&locks);

	begin("a hold that ends in a call");
	meanwhile_enter(&locks, locks_thread(&locks, 0, 1), 0, 70, 0);
	lock(1, A, 10);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 20);
	meanwhile_enter(&locks, 0, 1, 71, 30);
	meanwhile_enter(&locks, 0, 2, 72, 40);
	unlock(1, A, 100);
	ok(locks.top[0].path.functions == 2 && locks.top[0].path.function[0] == 71 &&
			locks.top[0].path.function[1] == 72, "has those that are open");
	is_int((long long)locks.top[0].busiest, 70, "up to its end");
	locks_free(&locks);
}

static void what_is_missing(void)
{
	begin("events that are missing");
	lock(1, A, 0);
	enter(2, LOCKS_LOCK, LOCKS_MUTEX, A, 5);
	locks_forget(&locks, 0);
	locks_forget(&locks, 1);
	lock(3, A, 50);
	unlock(3, A, 60);
	leave(2, 61, 0);
	sum_is(&lock_of(A)->hold, 1, 10, 10, "make holds that are not counted");
	sum_is(&lock_of(A)->wait, 0, 0, 0, "nor waits");
	lock(1, B, 70);
	lock(2, B, 80);
	unlock(2, B, 85);
	sum_is(&lock_of(B)->hold, 1, 5, 5, "who gets it is the only holder");
	unlock(1, B, 90);
	sum_is(&lock_of(B)->hold, 1, 5, 5, "and who unlocks late ends nothing");
	locks_free(&locks);

	begin("a call in a call");
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 0);
	enter(1, LOCKS_LOCK, LOCKS_MUTEX, A, 1);
	leave(1, 2, 0);
	leave(1, 3, 0);
	unlock(1, A, 10);
	sum_is(&lock_of(A)->hold, 1, 7, 7, "of a function that is a wrapper is one call");
	locks_free(&locks);
}

int main(void)
{
	waits();
	recursion();
	failures();
	readers();
	conditions();
	semaphores();
	chains();
	orders();
	lives();
	what_holders_do();
	what_is_missing();
	return done_testing();
}
