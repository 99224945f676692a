/* SPDX-License-Identifier: MIT */
/*
 * Handlers: functions of the program that are called on events, beside the recorder. One entry per type of event, for
 * the process.
 *
 * The way of an event: when a handler of calls is set, tramp_checks has TRAMP_CHECK_HANDLERS, and tramp_wanted a bit
 * for its type. The trampolines then take their checked path; if the event's type is wanted, they read the clock, save
 * the general registers (x86_64/tramp_handlers.S) and call tramp_handle_*() (runtime/handlers/events.c). The recorder's
 * event follows the handler. Its time is the one that the handler was told; but after a handler of an entry without
 * HANDLERS_GENERAL, and after one that raised events, the clock is read again, so that times ascend. Functions that are
 * only counted, or left out by a depth or `below`, reach no handler; recording has to be on, not in mode count. The
 * rules' time takes nothing from handlers. Without handlers nothing of this runs.
 *
 * Registers: whatever the handler does, the program finds all registers as they were: x87, SSE, AVX, AVX-512 and mask
 * registers, mxcsr, and flags but for those of results, which no function keeps. Vector and mask registers are saved by
 * moves; if x87 is in use, or has an exception that is not masked, by xsave of all that XCR0 has (tramp_call_saved();
 * but not AMX tiles and protection keys: a handler must not change them). That needs up to 2.7 kB below the program's
 * stack pointer beside what the handler itself uses; threads with tiny stacks (PTHREAD_STACK_MIN is 16 kB) need room
 * for it. HANDLERS_GENERAL spares both time and room.
 *
 * Recursion: events that are raised while the thread is in a handler (by functions that it calls, or by a signal
 * handler that interrupts it) are recorded as usual, reach no handler, and are counted: handlers_nested().
 *
 * Removal: the entry is loaded, called and no longer used within one read-side section (runtime/process/epoch.h);
 * remove unpublishes it and waits until all sections are left that were open then. The slot of a thread lies in the
 * part of the records' mappings that fork does not wipe (runtime/process/thread.h): a thread that forks in a handler is
 * still in it in the child. A section that is left by siglongjmp or an exception ends with the unwinding that the
 * recorder learns of, or with the thread's next event from the same or a higher frame.
 *
 * The table is written with the process lock held; remove waits without it. All functions: any thread,
 * async-signal-safe, no libc, unless said otherwise.
 */
#ifndef XAUDIT_RUNTIME_HANDLERS_HANDLERS_H
#define XAUDIT_RUNTIME_HANDLERS_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86_64/contract.h" /* struct tramp_registers */

enum handlers_type {
	HANDLERS_ENTRY,	    /* a function is called */
	HANDLERS_EXIT,	    /* it returned; rax, rdx and the vector registers hold its result */
	HANDLERS_TAIL,	    /* it ended by jumping to another function */
	/*
	 * it ended without returning. Told when that is noticed, at the latest at the thread's next event from a higher
	 * frame
	 */
	HANDLERS_UNWIND,
	HANDLERS_ARGUMENTS, /* as HANDLERS_ENTRY, and after it: for a handler that looks at arguments */
	HANDLERS_CUSTOM,
	HANDLERS_TYPED,
	HANDLERS_PROBE, /* a probe is passed (x86_64/probe.h) */
	HANDLERS_LOAD,	/* an object was mapped: before its relocation and its constructors, under ld.so's lock */
	HANDLERS_UNLOAD, /* its destructors have run; under ld.so's lock, but not when the process exits */
	HANDLERS_TYPES
};

/* Valid during the call of the handler. */
struct handlers_event {
	uint32_t size; /* of this struct, which may grow */
	uint32_t type; /* enum handlers_type */
	uint32_t id;	 /* of the function; 0: none */
	uint32_t object; /* number of the object as in the trace; 0: not known */
	/*
	 * where the function's code goes on after its sled or PLT slot; a probe's instruction; load address of an
	 * object; 0: not known
	 */
	uint64_t address;
	uint64_t caller;  /* where the call returns to; 0: not known */
	uint64_t clock;	  /* of the trace: TSC, or CLOCK_MONOTONIC in ns */
	/* entry, arguments, exit, tail, probe; else NULL. XRay sleds have written r10. */
	const struct tramp_registers *registers;
	/* see handlers_vector(); NULL for HANDLERS_GENERAL, load and unload */
	const void *vectors;
	const void *data;			    /* custom and typed: the payload; else NULL */
	uint64_t data_size, data_type;
};

typedef void handlers_function(const struct handlers_event *event, void *argument);

/* Flags of handlers_set(). */
#define HANDLERS_GENERAL \
	1 /* fn and all it calls use general registers alone (-mgeneral-regs-only): nothing else is saved */

/*
 * Calls fn(event, argument) on each event of that type from now on, instead of the handler that was set before, for
 * which it answers as handlers_remove(). -EINVAL: no such type or flag, or no function. -ENOMEM.
 */
int handlers_set(enum handlers_type type, handlers_function *fn, void *argument, unsigned flags);

/*
 * Removes the handler. 0: no thread is in it, and none will enter it: its code may be unmapped. HANDLERS_DEFERRED: this
 * thread is in a handler; the handler's code may be unmapped when this thread, and all others that were in a handler,
 * have left theirs. -EBUSY: no thread will enter it, but some thread did not leave within HANDLERS_WAIT. -ENOENT: there
 * was no handler. -EINVAL: no such type.
 */
int handlers_remove(enum handlers_type type);

#define HANDLERS_DEFERRED 1
#define HANDLERS_WAIT	  2000000000ull /* ns */

/*
 * The memory at start ... end-1 will be unmapped: removes all handlers whose function or argument lies there. wait:
 * then waits as handlers_remove(), once for all. Returns its answer; 0 also when there was no handler. A handler that
 * lies elsewhere may be closing that memory's library: then the other threads are waited for. For la_objclose: without
 * the process lock.
 */
int handlers_forget(uint64_t start, uint64_t end, int wait);

/*
 * Is the calling thread in a handler of the program? Then 1, and its function and argument; 0 also in a handler of
 * HANDLERS_LOAD, where ld.so can't be asked for anything. Without the process lock.
 */
bool handlers_inside(uint64_t *function, uint64_t *argument);

/*
 * Is the calling thread in the handler that is told this event, at the moment? Without the process lock; only the
 * pointer is looked at.
 */
bool handlers_is_told(const struct handlers_event *event);

/*
 * How many events reached no handler since they were raised inside of one. A forked child goes on from its parent's
 * number.
 */
uint64_t handlers_nested(void);

/*
 * The program raises a custom event, or a typed event (data_type). Any thread that may take the process lock; the
 * caller has saved no registers.
 */
void handlers_custom(const void *data, size_t size);
void handlers_typed(uint64_t data_type, const void *data, size_t size);

/* An object is loaded or unloaded. From ld.so's callbacks, without the process lock. */
void handlers_loaded(enum handlers_type type, uint32_t object, uint64_t base);

struct thread;

/* An open call of the thread ended as unwound. From calls_ends.c. */
void handlers_unwind(struct thread *thread, uint32_t id);

/* The frames at low ... high of the calling thread's stack are gone; a handler's may be among them. */
void handlers_frames_gone(struct thread *thread, uint64_t low, uint64_t high);

/* The thread gives its record back. Lock held. */
void handlers_thread_ended(struct thread *thread);

/* ---- for state.h ---- */

/*
 * May a handler of an event at `frame` be called? Enrolls the thread in the epoch if it is not yet, and ends a section
 * that was left by a jump. 0: the thread is in a handler, and the event has been counted. Off the fast path.
 */
bool handlers_may_enter(struct thread *thread, uint64_t frame);

#endif
