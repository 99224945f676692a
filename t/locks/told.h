/* SPDX-License-Identifier: MIT */
/* A model of locks that tests tell of calls: `tid` is the number of a thread, and of the place where it calls. */
#ifndef XAUDIT_T_LOCKS_TOLD_H
#define XAUDIT_T_LOCKS_TOLD_H

#include "t/lib/tap.h"
#include "tool/locks/model.h"

#define A 0xa000
#define B 0xb000
#define C 0xc000
#define D 0xd000

static struct locks locks;

static inline void begin(const char *what)
{
	diag("%s", what);
	locks_begin(&locks);
}

static inline void enter(uint32_t tid, enum locks_act act, enum locks_kind kind, uint64_t address, uint64_t time)
{
	struct locks_call call = {
		.thread = locks_thread(&locks, 0, tid), .kind = kind, .act = act, .time = time, .address = address,
		.mutex = A, .place = tid,
	};

	locks_enter(&locks, &call);
}

static inline void leave(uint32_t tid, uint64_t time, int64_t result)
{
	locks_leave(&locks, locks_thread(&locks, 0, tid), time, result, false);
}

/* A call that takes no time. */
static inline void at_once(uint32_t tid, enum locks_act act, enum locks_kind kind, uint64_t address, uint64_t time)
{
	enter(tid, act, kind, address, time);
	leave(tid, time, 0);
}

static inline void lock(uint32_t tid, uint64_t address, uint64_t time)
{
	at_once(tid, LOCKS_LOCK, LOCKS_MUTEX, address, time);
}

static inline void unlock(uint32_t tid, uint64_t address, uint64_t time)
{
	at_once(tid, LOCKS_UNLOCK, LOCKS_MUTEX, address, time);
}

/* The newest lock at an address. */
static inline const struct locks_lock *lock_of(uint64_t address)
{
	for (uint32_t i = locks.locks; i--;)
		if (locks.lock[i].address == address)
			return &locks.lock[i];
	return NULL;
}

static inline void sum_is(const struct locks_sum *sum, uint64_t count, uint64_t total, uint64_t max, const char *what)
{
	ok(sum->count == count && sum->total == total && sum->max == max, "%s: %llu, %llu in all, %llu at most", what,
		(unsigned long long)sum->count, (unsigned long long)sum->total, (unsigned long long)sum->max);
}

#endif
