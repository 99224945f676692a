/* SPDX-License-Identifier: MIT */
/*
 * Who held which lock while who waited: a model of all locks of a trace, which is told of calls of lock functions in
 * the order of time over all threads, and adds up.
 *
 * HOLDS. A hold begins when the call that locks returns, and ends when the one that unlocks begins. So of two holds of
 * a mutex one ends before the other begins: the thread that unlocks reads the clock before it does, the one that locks
 * after it has. Locked again by its holder, a mutex is held until the last unlock. To wait for a condition ends the
 * hold of the mutex when the call begins, and the return from it begins another one.
 *
 * WAITS. A call that locks waits, from its begin to its end, if another thread held the lock at some moment of it, in a
 * mode that excludes this one's; so it does, too, where that thread came second and was faster. Other calls took their
 * time, too, which is their cost. A call for a semaphore, which nobody holds, waits if the semaphore was posted
 * meanwhile. Calls that try wait never; they find a lock busy, or not. What is waited for a condition is apart from
 * all of that.
 *
 * LOCKS have numbers from 0. One that is initialised or destroyed is over, and another one begins at its address.
 * Places are numbers of the caller's, of where calls came from, as are functions.
 *
 * What can't be, since events are missing or began before the trace, is put right as it is seen: who gets a mutex is
 * its only holder. Memory: for locks, threads, places, and pairs of them that occurred; not for events. Where memory
 * runs out, the command ends. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_MODEL_H
#define XAUDIT_TOOL_LOCKS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/base/hash.h"

#define LOCKS_NONE	UINT32_MAX
#define LOCKS_UNKNOWN	INT64_MIN /* a result */
#define LOCKS_OPEN_MOST 8	  /* open calls of lock functions of a thread: in signal handlers, one in another */
#define LOCKS_PATH_MOST 4
#define LOCKS_TOP	64

enum locks_kind { LOCKS_MUTEX, LOCKS_RWLOCK, LOCKS_SPIN, LOCKS_CONDITION, LOCKS_SEMAPHORE, LOCKS_KINDS };

enum locks_act {
	LOCKS_NO_ACT,
	LOCKS_LOCK,
	LOCKS_READ, /* lock for reading */
	LOCKS_TRY,
	LOCKS_TRY_READ,
	LOCKS_UNLOCK,
	LOCKS_WAIT, /* for a condition */
	LOCKS_POST,
	LOCKS_INIT,
	LOCKS_DESTROY
};

/* A call that begins. */
struct locks_call {
	uint32_t thread; /* locks_thread() */
	uint32_t process;
	enum locks_kind kind;
	enum locks_act act;
	uint64_t time, address;
	uint64_t mutex; /* of LOCKS_WAIT */
	uint32_t place;
};

struct locks_sum {
	uint64_t count, total, max;
};

static inline void locks_add(struct locks_sum *sum, uint64_t time)
{
	sum->count++;
	sum->total += time;
	if (time > sum->max)
		sum->max = time;
}

struct locks_lock {
	uint32_t process, life; /* life: 0, 1, ... at this address */
	uint64_t address, first;
	enum locks_kind kind;
	uint32_t first_place;
	bool made; /* its begin was seen: it was initialised */
	bool over; /* destroyed, or initialised again */
	uint64_t calls; /* that lock, or wait for a condition or a semaphore */
	uint64_t timed_out, busy, posts;
	uint64_t foreign; /* unlocked by another thread than its holder */
	struct locks_sum wait, cost, hold;
	uint32_t holders; /* threads */
	/* Now. */
	uint32_t hold_first; /* of its holds; LOCKS_NONE */
	uint32_t *waiter;    /* threads whose call for it is open */
	uint32_t waiters;
	uint32_t edge_first; /* order.h */
};

/* A thread and a lock that it has held, or waited for. */
struct locks_holder {
	uint32_t lock, thread;
	bool held;
	struct locks_sum wait, hold;
	uint64_t waited; /* by others in these holds, in all */
};

/* Calls, the outermost first. */
struct locks_path {
	uint32_t function[LOCKS_PATH_MOST];
	uint32_t functions;
};

struct locks_hold {
	uint32_t lock, thread, place, holder;
	uint32_t count; /* how often it is locked */
	bool reads;
	uint64_t since, until; /* until: when it is over */
	uint64_t waited; /* by others meanwhile, in all */
	uint32_t waiters;
	uint64_t busiest; /* the longest call in it, and calls in that */
	struct locks_path path;
	uint32_t next_of_lock, next_of_thread; /* or of those that are free */
};

struct locks_open {
	enum locks_kind kind;
	enum locks_act act;
	uint64_t time, address;
	uint32_t lock, mutex, place;
	uint32_t chain; /* chain.h: that it is the last one of; LOCKS_NONE */
	bool waits;	/* as the top of this file has it */
	bool foreign;	/* of LOCKS_UNLOCK: by another thread than the holder */
	bool inner;	/* a part of the call around it: nothing is told of it */
};

/* An open call of a thread, and the longest one that it made so far. meanwhile.h */
struct locks_slot {
	uint64_t start, longest;
	uint32_t function;
	struct locks_path path;
};

struct locks_thread {
	uint32_t process, tid;
	bool ended;
	uint64_t last;	     /* its last event */
	uint32_t hold_first; /* LOCKS_NONE */
	uint32_t opens, deeper; /* deeper: calls beyond those that are kept */
	struct locks_open open[LOCKS_OPEN_MOST];
	struct locks_slot *slot; /* by depth */
	uint32_t slots, depth;
};

/* What was done at a place. */
struct locks_place {
	uint64_t calls;
	struct locks_sum wait, hold;
	uint64_t waited; /* by others, in holds that began here */
	uint32_t lock;
	bool several; /* locks */
};

struct locks {
	struct locks_lock *lock;
	uint32_t locks;
	struct hash by_address; /* rows are places in `current` */
	struct locks_current {
		uint32_t process, lock;
		uint64_t address;
	} *current;
	uint32_t currents;
	struct locks_thread *thread;
	uint32_t threads;
	struct hash by_tid;
	struct locks_holder *holder;
	uint32_t holders;
	struct hash by_holder;
	struct locks_hold *hold;
	uint32_t holds, hold_free;
	struct locks_place *place;
	uint32_t places;
	/* Holds in which others waited longest, in all; in that order. */
	struct locks_hold top[LOCKS_TOP];
	uint32_t tops;
	/* Holds without an end: up to the trace's, or that of their threads, if another one was told (EOWNERDEAD). */
	struct locks_hold left[LOCKS_TOP];
	uint32_t lefts;
	uint64_t left_all;
	/* Calls for a lock that had not returned in the end. */
	struct locks_stuck {
		uint32_t thread, lock, place;
		bool own; /* the thread holds it itself */
		uint64_t time;
	} stuck[LOCKS_TOP];
	uint32_t stucks;
	uint64_t stuck_all;
	struct locks_order *order;
	struct locks_chains *chains;
};

void locks_begin(struct locks *locks);
void locks_free(struct locks *locks);

/* The thread's number here. */
uint32_t locks_thread(struct locks *locks, uint32_t process, uint32_t tid);

/* A call begins. */
void locks_enter(struct locks *locks, const struct locks_call *call);

/*
 * The innermost call of a lock function that the thread has open is over. unwound: by an exception, or the end of the
 * thread.
 */
void locks_leave(struct locks *locks, uint32_t thread, uint64_t time, int64_t result, bool unwound);

/* Events of the thread are missing: what it holds, and waits for, is not known any more. */
void locks_forget(struct locks *locks, uint32_t thread);

/* The process's trace ends there. */
void locks_end(struct locks *locks, uint32_t process, uint64_t now);

/* Does who holds the lock so keep out who wants it so? */
static inline bool locks_excludes(bool held_reads, bool reads)
{
	return !held_reads || !reads;
}

static inline bool locks_act_reads(enum locks_act act)
{
	return act == LOCKS_READ || act == LOCKS_TRY_READ;
}

/* The call in which the thread may be waiting for a lock, or NULL. */
const struct locks_open *locks_waiting(const struct locks *locks, uint32_t thread);

#endif
