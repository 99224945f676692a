/* SPDX-License-Identifier: MIT */
/*
 * Thread records: the data that one thread needs to record events. They lie in our own mappings, never in TLS (the
 * program frees a dead thread's TLS); TLS holds only the pointer tramp_self.
 *
 * A record belongs to one thread and the signal handlers on it. It is taken at the thread's first event and given back
 * when the thread ends: the destructor of a key in the program's own libc tells us that. If libc took no key of ours,
 * the kernel is asked whether it knows the tid; and it is asked about all threads when the records would double, from
 * 512 on, which finds threads that ended by the system call alone. The next new thread takes record and chunk over,
 * with a TRACE_THREAD event between the two threads' events. Records lie in memory that fork wipes: a child finds its
 * own record zero, and then every path of the trampolines leads to C. Beside each record lies a slot of the epoch,
 * which fork keeps.
 */
#ifndef XAUDIT_THREAD_H
#define XAUDIT_THREAD_H

#include <stdbool.h>
#include <stddef.h> /* NULL */
#include <stdint.h>

#include "format/trace.h"
#include "runtime/process/epoch.h"
#include "x86_64/contract.h" /* tramp_self */
#include "x86_64/mirror.h" /* struct stack */

/* What a thread is on after another one came to its stack: no event finds its place there. */
extern struct stack thread_nowhere;

#define THREAD_CUSTOMS 3 /* how deep signal handlers in the middle of custom events may make custom events */
#define THREAD_FEW     4 /* places that need no list of their own */

#define THREAD_USED    0x80000000u /* of a spare place: it was somebody's (pool.h) */
#define THREAD_SPARE   0x40000000u /* there is one; it may be place 0 */

/* A place of meta that a thread has for its chunks, and what it knows of the chunk there, whatever meta says by now. */
struct thread_place {
	uint32_t number; /* in meta */
	uint32_t used;	 /* where the chunk's events end; 0: it is not ended, or none was begun */
	uint64_t seq;
	uint64_t copied; /* its number in t<n>; 0: none */
	uint32_t mode;	 /* enum trace_mode, when it was begun */
	uint8_t begun;	 /* a chunk was begun there, by whomever: its words may be no zeros */
	uint8_t handed;	 /* it is published, and not withdrawn */
};

struct thread {
	struct tramp_state hot; /* first: tramp_self points at it */
	uint32_t tid;		/* 0: the record is free, or was wiped */
	uint32_t number;	/* in the trace; given with the first chunk or counter */
	struct trace_chunk *chunk; /* the chunk that takes events, or the last one that did; NULL: none yet */
	uint64_t next_chunk;	/* sequence number */
	struct thread_place *many; /* of its chunks, when they are more than thread_kept.few holds (chunk.h) */
	uint32_t made;		/* how many it has */
	uint32_t place;		/* the place that holds the chunk */
	uint32_t spare;		/* a place that is taken, but could not be reserved, with the bits above; 0: none */
	uint32_t lost;		/* events since the last chunk was begun */
	uint64_t saved;		/* bytes of t<n> that have numbers: the next chunk lies behind them */
	uint64_t save_failed;	/* as failed, for t<n> */
	uint64_t taking;	/* address of an entry that is about to be taken back (filter.c); 0: none */
	uint8_t passed;		/* words of this chunk that hold its token were passed over */
	uint8_t has_number;
	uint8_t muted;		/* nothing is recorded of the thread (filter.h). By the thread itself */
	uint8_t lost_cause, count_cause; /* enum trace_lost, of failed and count_failed */
	/* Events of several words that are being written, further out on the stack, too: thread_customs() of them. */
	struct {
		uint64_t address; /* of its first word */
		uint64_t frame;	  /* of the code that writes it; 0: none is */
	} custom[THREAD_CUSTOMS];
	uint32_t enrolled;	/* its slot is registered with the epoch; see thread_slot() */
	uint32_t oldest;	/* which place is next in mode ring; 0: the first, or none was filled in it since */
	struct trace_counts *counts; /* the newest run; NULL: none yet */
	uint64_t counts_size;	/* its bytes */
	uint64_t count_failed;	/* as failed, for counters */
	int32_t save_error;	/* the error of that failure */
	uint32_t is_slow; /* in try_slowly(); a handler of SIGSYS finds it so */
	uint32_t count_spare;	/* as spare: the first place of a run of counters of the least size */
	uint64_t failed;	/* clock of the last failed attempt to get a chunk; 0: none */
	const struct handlers_range *range; /* of the function ids that a handler was last told of, or NULL */
};

_Static_assert(__builtin_offsetof(struct thread, hot) == 0, "tramp_self points at the hot part");

/* Of how many events of several words the thread is in the middle. */
static inline uint32_t thread_customs(const struct thread *thread)
{
	uint32_t n = 0;

	/* Relaxed: this thread's own; one store begins an entry, and one ends it. */
	while (n < THREAD_CUSTOMS && __atomic_load_n(&thread->custom[n].frame, __ATOMIC_RELAXED))
		n++;
	return n;
}

/* Distance from a record to its slot, which fork does not wipe: a slab is half records, half slots. */
#define THREAD_SLAB (64ul << 10)

/*
 * The record's slot: its thread's, and in a forked child still the slot of the thread that forked.
 * runtime/handlers/handlers.c registers it.
 */
static inline struct epoch_slot *thread_slot(struct thread *thread)
{
	return (struct epoch_slot *)((uintptr_t)thread + THREAD_SLAB + 192);
}

/* What lies beside the record, where fork does not wipe it. */
struct thread_kept {
	/*
	 * The tid of the thread that took the record and has not given it back. If the record is zero nevertheless,
	 * fork wiped it, and it may be the forking thread's, whose tramp_self still points at it: no other thread may
	 * get it.
	 */
	uint32_t owner;
	/* Does libc tell when the thread ends? Then the kernel is not asked. By the thread itself. */
	uint32_t watched;
	/* The struct of the stack that it was on when it was sent away, and goes on with; or NULL. Lock. */
	struct stack *away;
	/* Number of the stack that its events are on, as the trace says. By the thread itself. */
	uint32_t said;
	/* Where dense words are made (chunk_file.c); NULL: nowhere yet. By the thread itself, signals blocked. */
	struct chunk_room *room;
	/* What backtraces of the thread keep (backtrace.h); NULL: nothing yet. By the thread itself. */
	struct backtrace_room *backtraces;
	/* Of thread.made places, which the record counts. By the thread itself, signals blocked. */
	struct thread_place few[THREAD_FEW];
};

static inline struct thread_kept *thread_kept(const struct thread *thread)
{
	return (struct thread_kept *)((uintptr_t)thread + THREAD_SLAB);
}

static inline struct thread *thread_self(void)
{
	struct thread *thread = (struct thread *)tramp_self;

	return thread && thread->tid ? thread : NULL;
}

/*
 * Was the calling thread's record wiped since it was got: has a signal handler forked, and is this the child?
 * thread_get() then gives it the same memory again. Constant while signals are blocked.
 */
static inline bool thread_is_wiped(const struct thread *thread)
{
	return !__atomic_load_n(&thread->tid, __ATOMIC_RELAXED); /* relaxed: our own thread's */
}

static inline bool thread_is_muted(const struct thread *thread)
{
	return __atomic_load_n(&thread->muted, __ATOMIC_RELAXED); /* relaxed: this thread's own */
}

/* What higher parts do with threads: given by runtime/start.c, before the first record is taken. */
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
 * Who the caller is, with a frame at that address. Children that share our memory, and threads that libc does not know
 * of, may have the thread-local data of the thread that made them, and so its tramp_self. Only on a stack of the
 * thread's own they can't be told from it: a child of vfork, for which the thread waits, is there.
 */
enum thread_caller {
	THREAD_OWN,	 /* the record's thread; also, if that is gone, another one of the process, whose it is now */
	/*
	 * a task that the thread waits for, on another stack: nobody else uses the record now; so is a handler in a
	 * thread that holds the process lock, on a new stack
	 */
	THREAD_GUEST,
	THREAD_STRANGER, /* any other task: the thread may run beside it */
};

/*
 * Costs nothing worth mentioning where the thread's last stack is at that address, or a stack that it ran on, unless a
 * task that shares our memory was seen before; else a system call, or, for other tasks, some ten. A guest is believed
 * for this one question only: its stack may be another task's soon after.
 */
enum thread_caller thread_caller(struct thread *thread, uint64_t address);

/* Was a task seen that shares our memory? Then what is known of stacks does not tell who runs there. Relaxed. */
extern uint32_t thread_shared;

static inline bool thread_is_shared(void)
{
	/* Relaxed: a thread that sees it late trusts what it trusted before. */
	return (int)__atomic_load_n(&thread_shared, __ATOMIC_RELAXED);
}

static inline bool thread_is_stranger(struct thread *thread, uint64_t address)
{
	return thread_caller(thread, address) == THREAD_STRANGER;
}

/*
 * The calling thread's record, made if it has none. NULL: nothing is recorded (recording is off, or no memory). Takes
 * the process lock. Async-signal-safe, no libc.
 */
struct thread *thread_get(void);

/* The number of the thread's record in the trace, given now if it has none. By the thread itself, signals blocked. */
unsigned thread_trace_number(struct thread *thread);

/*
 * Has no thread but the calling one a record? Then all records are as fork leaves them to a child. Lock held, by a
 * thread of the process; not under a filter.
 */
int thread_forget_all(void);

/* Calls do_it for every record. Lock held. */
void thread_each(void (*do_it)(struct thread *thread));

/*
 * Tells how a thread's end is learnt: by pthread_setspecific of the program's libc and a key there whose destructor is
 * thread_ended(). Called once, in ld.so's callback, before or after threads have records.
 */
void thread_watch_ends(uintptr_t setspecific, unsigned key);

/* The pthread_setspecific in use, 0: none; another one takes its place, which does the same. Lock held. */
uintptr_t thread_setspecific(void);
void thread_use_setspecific(uintptr_t function);

/*
 * Functions of libc are traced themselves, so threads make events after libc's last word: from now on they keep their
 * record until the kernel says that they are gone. Any thread, lock held.
 */
void thread_goes_on(void);

/*
 * The destructor: ends the thread's open calls as unwound and gives its record back. On the thread itself, by libc; if
 * another destructor makes traced calls they take a record again, and libc calls this once more (but thread_goes_on()).
 */
void thread_ended(void *record);

#endif
