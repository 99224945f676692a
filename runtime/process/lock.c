/* SPDX-License-Identifier: MIT */
#include "runtime/process/lock.h"

#include <linux/futex.h> /* FUTEX_WAIT_PRIVATE */
#include <linux/kcmp.h>	 /* KCMP_VM */
#include <stdbool.h>

#include "runtime/base/identity.h"
#include "x86_64/confined.h"
#include "x86_64/cpu.h"
#include "x86_64/sys.h"

#define SLEEP 50000000	   /* ns, until a waiter looks whether the holder is there */
#define LOOKS 200	   /* after so many it need not be sure who that is: ten seconds */
#define SPINS (1ull << 30) /* 4 to 40 s: processors pause for 10 to 100 cycles */

uint32_t lock_number(void)
{
	/* A filter of system calls may have it fail. */
	long number = confined() ? 0 : sys_gettid();

	/* The first process of a namespace: who waits elsewhere knows another one by that number. */
	return number <= 0 || (number == 1 && identity_pid() != 1) ? LOCK_SOMEONE : (uint32_t)number;
}

static int swap(uint32_t *lock, uint32_t from, uint32_t to)
{
	/* C11: acquire on success; pairs with the release in lock_release(). x86: the locked instruction is both. */
	return __atomic_compare_exchange_n(lock, &from, to, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool lock_try(uint32_t *lock, uint32_t number)
{
	return swap(lock, 0, number);
}

/*
 * Does the kernel know no task of that number, or one that has ended? A process that was killed stays known to other
 * questions until it is waited for, which may be what our caller is about to do. So it is asked as for a mutex with
 * priority inheritance, by a word of our own.
 */
static bool is_gone(uint32_t number)
{
	uint32_t word = number;
	long r = sys_call(__NR_futex, (long)&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, 0, 0, 0);

	/* EDEADLK: the number is ours by now. Other errors tell nothing, as of kernels without such mutexes. */
	return r == -ESRCH || r == -EDEADLK;
}

/*
 * Does the kernel mean by a number whom the process means by it? Not for a child that shares its memory and is in a
 * namespace of its own, which does not see its parent.
 */
static bool knows_numbers(void)
{
	uint32_t pid = identity_pid();

	return (uint32_t)sys_getpid() == pid || (uint32_t)sys_call(__NR_getppid, 0, 0, 0, 0, 0, 0) == pid;
}

/* Is it a thread of our process, or another task of which the kernel knows that it has our memory? */
static int is_ours(uint32_t number)
{
	return sys_call(__NR_tgkill, (long)identity_pid(), (long)number, 0, 0, 0, 0) != -ESRCH ||
	       (knows_numbers() && !sys_call(__NR_kcmp, sys_gettid(), (long)number, KCMP_VM, 0, 0, 0));
}

/*
 * May the lock be taken over from the holder, whom the caller has seen there in so many looks? In the end from all but
 * ours: the number may be another task's by now.
 */
static bool is_left(uint32_t holder, unsigned looks)
{
	if (looks >= LOOKS)
		return holder == LOCK_SOMEONE || !is_ours(holder);
	return holder != LOCK_SOMEONE && is_gone(holder) && knows_numbers();
}

bool lock_try_left(uint32_t *lock, uint32_t number)
{
	if (lock_try(lock, number))
		return true;
	uint32_t holder = __atomic_load_n(lock, __ATOMIC_RELAXED); /* relaxed: swap() looks again */
	return holder && !confined() && is_left(holder, 0) && swap(lock, holder, number);
}

/* Sleeps for a lock whose word was `seen`. Returns whether it was so still, after a while. */
static int sleep_for(uint32_t *lock, uint32_t seen)
{
	const struct timespec most = { .tv_nsec = SLEEP };
	uint32_t awaited = seen | LOCK_AWAITED;

	/* Relaxed, both: it orders nothing. */
	if (seen != awaited &&
		!__atomic_compare_exchange_n(lock, &seen, awaited, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	return sys_call(__NR_futex, (long)lock, FUTEX_WAIT_PRIVATE, awaited, (long)&most, 0, 0) == -ETIMEDOUT;
}

bool lock_take(uint32_t *lock, uint32_t number)
{
	uint32_t holder = 0;
	uint64_t spins = 0;
	unsigned looks = 0;

	if (lock_try(lock, number))
		return false;
	for (;;) {
		uint32_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED); /* relaxed: swap() looks again */
		if ((seen & ~LOCK_AWAITED) != holder) {
			holder = seen & ~LOCK_AWAITED;
			spins = looks = 0;
		}
		if (!seen) {
			if (swap(lock, 0, confined() ? number : number | LOCK_AWAITED))
				return false;
		} else if (confined()) {
			cpu_pause();
			if (++spins >= SPINS && swap(lock, seen, number))
				return true;
		} else if (sleep_for(lock, seen) && is_left(holder, ++looks) &&
			   swap(lock, holder | LOCK_AWAITED, number | LOCK_AWAITED)) {
			return true;
		}
	}
}

bool lock_is_held(const uint32_t *lock, uint32_t number)
{
	return (__atomic_load_n(lock, __ATOMIC_RELAXED) & ~LOCK_AWAITED) == number; /* relaxed: our own store */
}

int lock_release(uint32_t *lock)
{
	/* Release; pairs with the acquires in swap(). */
	int awaited = (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) & LOCK_AWAITED) != 0;

	if (awaited)
		lock_wake(lock);
	return awaited;
}

/* One, who leaves the bit for the others; under a filter nobody does: then all. */
void lock_wake(uint32_t *lock)
{
	sys_call(__NR_futex, (long)lock, FUTEX_WAKE_PRIVATE, confined() ? INT32_MAX : 1, 0, 0, 0);
}
