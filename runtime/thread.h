/* SPDX-License-Identifier: MIT */
/*
 * Thread records: what one thread needs to record events. Our own mappings, never TLS (the program frees a dead
 * thread's TLS); TLS holds the one pointer tramp_self.
 *
 * A record belongs to one thread and the signal handlers on it. It is taken at the thread's first event and given back
 * when the thread ends: that is learnt by a key of the program's own libc, whose destructor calls us. The kernel is
 * asked whether it knows such a tid where libc took no key of ours, and about all when the records would double, from
 * 512 on: threads that end by the system call alone are found so. The next new thread takes record and chunk over, with
 * a TRACE_THREAD event between them. Records lie in memory that fork wipes: a child finds its own record zero, and
 * every path of the trampolines leads to C then. Beside each lies a slot of the epoch, which fork keeps.
 */
#ifndef XAUDIT_THREAD_H
#define XAUDIT_THREAD_H

#include <stddef.h> /* NULL */
#include <stdint.h>

#include "format/trace.h"
#include "runtime/epoch.h"
#include "x86_64/contract.h" /* tramp_self */
#include "x86_64/mirror.h" /* struct stack */

#define THREAD_CUSTOMS 3 /* handlers of signals in the middle of custom events make such themselves, so deep */

struct thread {
	struct tramp_state hot; /* first: tramp_self points at it */
	uint32_t tid;		/* 0: the record is free, or was wiped */
	uint32_t number;	/* in the trace; given with the first chunk or counter */
	struct trace_chunk *chunk; /* the chunk that takes events, or the last one that did; NULL: none yet */
	uint64_t next_chunk;	/* sequence number */
	uint32_t *many;		/* places of its chunks, when they are more than `few` holds (chunk.h) */
	uint32_t few[4];
	uint32_t made;		/* so many it has */
	uint32_t place;		/* which one is chunk's */
	uint32_t spare;		/* a place that is taken, but could not be reserved; 0: none */
	uint32_t lost;		/* events since the last chunk was begun */
	uint64_t saved;		/* chunks in t<n> */
	uint64_t save_failed;	/* as failed, of t<n> */
	uint64_t taking;	/* address of an entry that is about to be taken back (filter.c); 0: none */
	uint8_t passed;		/* in this chunk words were passed over that hold its token */
	uint8_t has_number;
	uint8_t lost_cause, count_cause; /* enum trace_lost, of failed and count_failed */
	uint32_t customs;	/* custom events that are being written, further out on the stack, too */
	struct {
		uint64_t address; /* of its first word */
		uint64_t frame;	  /* of who writes it */
	} custom[THREAD_CUSTOMS];
	uint32_t enrolled;	/* its slot is the epoch's; see thread_slot() */
	uint32_t oldest;	/* which place is next in mode ring; 0: the first, or none was filled in it since */
	struct trace_counts *counts; /* the newest run; NULL: none yet */
	uint64_t count_failed;	/* as failed, of counters */
	int32_t save_error;	/* why, then */
	uint32_t count_spare;	/* as spare, the first place of a run of the least size */
	uint64_t failed;	/* clock of the last vain attempt to get a chunk; 0: none */
	const struct handlers_range *range; /* of the function ids that a handler was last told of, or NULL */
};

_Static_assert(__builtin_offsetof(struct thread, hot) == 0, "tramp_self points at the hot part");

/* From a record to what fork does not wipe: a slab is half records, half these. */
#define THREAD_SLAB (64ul << 10)

/*
 * The record's slot: its thread's and, in a forked child, that of the thread that forked. runtime/handlers/handlers.c
 * registers it.
 */
static inline struct epoch_slot *thread_slot(struct thread *thread)
{
	return (struct epoch_slot *)((uintptr_t)thread + THREAD_SLAB + 192);
}

/*
 * Who took the record and has not given it back: a tid. Where the record is zero all the same, fork wiped it, and it
 * may be the forking thread's, whose tramp_self still points at it: nobody else must have it.
 */
static inline uint32_t *thread_owner(struct thread *thread)
{
	return (uint32_t *)((uintptr_t)thread + THREAD_SLAB);
}

static inline struct thread *thread_self(void)
{
	struct thread *thread = (struct thread *)tramp_self;

	return thread && thread->tid ? thread : NULL;
}

/*
 * Was the calling thread's record wiped since it was got: has a signal handler forked, and is this the child? It gets
 * it again by thread_get(); the same memory. Constant while signals are blocked.
 */
static inline int thread_is_wiped(const struct thread *thread)
{
	return !__atomic_load_n(&thread->tid, __ATOMIC_RELAXED); /* relaxed: our own thread's */
}

/* What those above do with threads: given by runtime/start.c, before the first record is taken. */
struct thread_hooks {
	/* the process's folder may just have been begun. Lock held */
	void (*begun)(void);
	/* the record was taken over from a thread that is gone. Lock held */
	void (*taken)(struct thread *thread);
	/*
	 * the calling thread's frames will not return: ends its open calls. Returns the stack that it is on, or NULL.
	 * Signals blocked
	 */
	struct stack *(*ends)(struct thread *thread);
	/* the calling thread gives its record back. Lock held */
	void (*ended)(struct thread *thread);
};

void thread_init(const struct thread_hooks *hooks);

/* The calling thread's number, as the kernel knows it; 0: it may not be asked (x86_64/confined.h). */
uint32_t thread_number(void);

/*
 * Is the caller, whose frames lie at that address, none that may use the record that its tramp_self names? So it is for
 * children that share our memory on a stack of their own, and who made them may run beside them (clone(CLONE_VM),
 * threads that libc does not know of). A child of vfork has its parent's stack, and its parent waits; so does
 * posix_spawn's. One system call for others, none where the thread's last stack is there.
 */
int thread_is_stranger(const struct thread *thread, uint64_t address);

/*
 * The calling thread's record, made if it has none. NULL: nothing is recorded (recording is off, or no memory). Takes
 * the process lock. Async-signal-safe, no libc.
 */
struct thread *thread_get(void);

/* The number of the thread's record in the trace, given now if it has none. By the thread itself, signals blocked. */
unsigned thread_trace_number(struct thread *thread);

/* Calls do_it for every record. Lock held. */
void thread_each(void (*do_it)(struct thread *thread));

/*
 * How to learn of a thread's end: pthread_setspecific of the program's libc and a key there whose destructor is
 * thread_ended(). Called once, in ld.so's callback, before or after threads have records.
 */
void thread_watch_ends(uintptr_t setspecific, unsigned key);

/*
 * The destructor: ends the thread's open calls as unwound and gives its record back. On the thread itself, by libc;
 * another destructor's traced calls take a record again, and libc calls once more.
 */
void thread_ended(void *record);

#endif
