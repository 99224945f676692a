/* SPDX-License-Identifier: MIT */
/*
 * Trampolines: the code that stubs jump to. It lies in libxaudit.so, never moves and is never freed.
 *
 * A site jumps to its stub, the stub through a gate, the gate through the dispatch table (runtime/record/dispatch.h) to
 * one of the trampolines here, which record the event in the calling thread's chunk and go on to the function's body.
 * They keep every register but the flags, use no vector register, take no lock and call C only off the fast path.
 * contract.h has the C functions that they call, and the words that they read.
 *
 * Owner: struct tramp_state belongs to one thread and to the signal handlers that run on it; every update is one
 * instruction or may be repeated by a handler in between (each place in tramp.S says why). Other threads never read it.
 *
 * Return interception. The trampoline takes the return address A out of stack slot S, keeps it in the mirror
 * entry of S and *calls* the body, so that S holds our label tramp_return. The body returns there; A comes back from
 * the mirror. The innermost open call on a stack is its tramp_stack.top; each mirror entry links to the one outside it.
 * Where the rules ask for it, S holds a label that belongs to A instead (labels.h).
 * Every path loads the pointer to the stack once and goes on with that: a handler that comes in between and runs on a
 * stack of its own changes the thread's pointer, not what we hold.
 * A coarse clock is read for the events whose word in the chunk has a number that TRAMP_COARSE_EVENTS divides. Others
 * take tramp_state.read, and don't look at the span, which is that of the reading: C changes both together, with
 * signals blocked, and trampolines store only a reading of the same span as the one before, by one instruction that
 * does nothing if there is another one by then. The reading is loaded after the cursor: code that changes it to another
 * span moves the cursor (runtime/record/recorder.h). Where there is more to do than to record, handlers or filters,
 * each event has a reading. XRay functions return through their own exit sleds; their open calls are kept in the mirror
 * of the word below their slot.
 */
#ifndef XAUDIT_TRAMP_H
#define XAUDIT_TRAMP_H

/* Address of the mirror entry of slot S: MIRROR_BASE + 2*S. Also stands in the CFI of tramp_return. */
#define MIRROR_BASE (-0x900000000000)

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The part of a stack (mirror.h) that trampolines read and write. It belongs to the thread that runs on the stack. */
struct tramp_stack {
	uint64_t low, size; /* the slots whose mirror is mapped: low ... low+size-1 */
	uint64_t top;	    /* slot of the innermost open call; the stack's end when there is none */
};

/*
 * The part of a thread record that trampolines read and write. A record of zeros (a forked child's) sends every path to
 * C.
 */
struct tramp_state {
	struct tramp_stack *stack; /* that the thread's events are on (runtime/record/recorder.h); NULL: none yet */
	uint64_t cursor;     /* where the next event goes, or may go; see chunk_bit */
	uint64_t chunk_bit;  /* set in every address of the chunk that takes events, clear after it; 0: no chunk does */
	uint64_t token;	     /* the value of the chunk's words that have no event */
	uint32_t span;	     /* clock >> 31 of the last sync */
	uint32_t count_limit; /* so many function ids have a counter; 0: none has */
	uint64_t counts;      /* address of the counter of id 0; 8 bytes each */
	uint64_t read;	     /* of a coarse clock: the last reading, always of that span (below) */
	int32_t ahead;	     /* from the chunk to where the next one will be (chunk.h); 0: not known */
	uint32_t known;	     /* runtime/ alone: a page where the thread was seen (thread.h); 0: none */
};

/* One open call. */
struct mirror_entry {
	uint64_t address; /* the real return address */
	uint32_t word;	  /* TRACE_WORD(TRACE_ENTRY, id), and bits of contract.h */
	uint32_t link;	  /* distance to the slot of the next outer open call, in words of 8 bytes */
};

static inline struct mirror_entry *mirror_entry(uint64_t slot)
{
	return (struct mirror_entry *)(uintptr_t)(MIRROR_BASE + 2 * slot);
}

/* Event types of the dispatch table. */
enum tramp_event {
	TRAMP_INTERCEPT,  /* entry of a function whose return is intercepted */
	TRAMP_POINT,	  /* entry-only */
	TRAMP_XRAY_ENTRY,
	TRAMP_XRAY_EXIT,
	TRAMP_XRAY_TAIL,
	TRAMP_CUSTOM, /* an event sled, of a custom event */
	TRAMP_TYPED,  /* an event sled, of a typed event */
	TRAMP_PROBE,  /* an instruction of a function (probe.h) */
	TRAMP_LANDED, /* a call that an exception's landing pad makes first: no event, but frames below it are gone */
	TRAMP_PRCTL,  /* a call of prctl(): no event, but it may take the TSC, or system calls, from us */
	TRAMP_SYSCALL, /* a call of syscall(): no event, but it may take system calls from us */
	TRAMP_LIMIT,  /* a call of setrlimit() or prlimit(): no event, but it may limit the addresses that there are */
	TRAMP_LOCK,   /* a call of mlockall(): no event, but it counts what is mapped */
	TRAMP_RIGHTS, /* a call of setuid() or so: no event, but the process may give up rights, or fork */
	TRAMP_EXEC,   /* a call of execve() or so: no event, but the module may have to go with it */
	TRAMP_JUMP,   /* a call of longjmp(env, ...): no event, but frames below env's stack pointer are about to go */
	TRAMP_CALLER, /* a call of dlopen() or so, which asks who called it: no event, but its caller may be gone */
	TRAMP_RETURN, /* a return to a label of its own (labels.h) */
	TRAMP_CFA,    /* a call of _Unwind_GetCFA(): no event, but what it returns may tell of a frame of ours */
	TRAMP_EVENTS
};

/*
 * The trampolines, one set per clock. Not C functions: the stack and registers on entry are those of a stub (stub.h).
 */
void tramp_intercept_tsc(void), tramp_intercept_mono(void), tramp_intercept_coarse(void);
void tramp_intercept_own_tsc(void), tramp_intercept_own_mono(void), tramp_intercept_own_coarse(void);
void tramp_point_tsc(void), tramp_point_mono(void), tramp_point_coarse(void);
void tramp_xray_entry_tsc(void), tramp_xray_entry_mono(void), tramp_xray_entry_coarse(void);
void tramp_xray_exit_tsc(void), tramp_xray_exit_mono(void), tramp_xray_exit_coarse(void);
void tramp_xray_tail_tsc(void), tramp_xray_tail_mono(void), tramp_xray_tail_coarse(void);

/* Of event sleds, for every clock; and while nothing is recorded. */
void tramp_custom(void), tramp_typed(void);
void tramp_custom_pass(void), tramp_typed_pass(void);

/* Of probes (probe.h), for each clock; those that count, and while nothing is recorded. */
void tramp_probe_tsc(void), tramp_probe_mono(void), tramp_probe_coarse(void);
void tramp_probe_count(void), tramp_probe_pass(void), tramp_probe_watch(void);
void tramp_probe_saved_tsc(void), tramp_probe_saved_mono(void), tramp_probe_saved_coarse(void);

/*
 * Count the call in the thread's counters and go on; no clock, no interception. For TRAMP_INTERCEPT, TRAMP_POINT;
 * TRAMP_XRAY_ENTRY.
 */
void tramp_count(void), tramp_xray_count(void);

/* Nothing is recorded: go on to the function. For the events of tramp_count() and tramp_xray_count(). */
void tramp_pass(void), tramp_xray_pass(void);
void tramp_watch_intercept(void), tramp_watch_point(void), tramp_xray_watch(void);

/*
 * XRay exits and tails while nothing new is recorded: only a call that is open, and the innermost, still ends in the
 * trace.
 */
void tramp_xray_exit_idle_tsc(void), tramp_xray_exit_idle_mono(void), tramp_xray_exit_idle_coarse(void);
void tramp_xray_tail_idle_tsc(void), tramp_xray_tail_idle_mono(void), tramp_xray_tail_idle_coarse(void);

/* These read no clock. Stack on entry as tramp_intercept's; they jump to the body. */
void tramp_landed(void), tramp_jump(void), tramp_caller(void), tramp_prctl(void), tramp_syscall(void);
void tramp_limit(void), tramp_lock(void), tramp_rights(void);

/* Stack on entry as tramp_intercept's; these call the body, the second one at times. */
void tramp_cfa(void), tramp_exec(void);

/*
 * Return labels of the sets: what a slot of an intercepted call holds. Calls that began by the TSC, or by the coarse
 * clock, which is the TSC, too, may be open when the trampolines are changed to _mono, never the other way round; a
 * process uses one of the first two. tramp_intercept_own_tsc and so on give labels of their own, which go on at one of
 * the last three (TRAMP_RETURN); or the labels of the others, if they must.
 */
extern const char tramp_return_tsc[], tramp_return_mono[], tramp_return_coarse[];
void tramp_return_own_tsc(void), tramp_return_own_mono(void), tramp_return_own_coarse(void);

/* A gate of another kind: goes to a function in C (x86_64/tramp_cyg.S). */
void tramp_cyg(void);

/* Gates: `jmp *dispatch_table[event]`. A stub page holds their addresses. */
void tramp_gate_intercept(void), tramp_gate_point(void);
void tramp_gate_xray_entry(void), tramp_gate_xray_exit(void), tramp_gate_xray_tail(void);
void tramp_gate_landed(void), tramp_gate_jump(void), tramp_gate_prctl(void), tramp_gate_syscall(void);
void tramp_gate_limit(void), tramp_gate_lock(void), tramp_gate_caller(void), tramp_gate_cfa(void);
void tramp_gate_rights(void), tramp_gate_exec(void);
void tramp_gate_custom(void), tramp_gate_typed(void), tramp_gate_probe(void);

/*
 * Gates of functions that give and free sampled blocks (tramp_sample.S): they look whether the call is one to record,
 * and go to its body, or on as tramp_gate_intercept(). All lie from the first name to the last.
 */
extern const char tramp_sample_begin[], tramp_sample_end[];
void tramp_sample_malloc(void), tramp_sample_calloc(void), tramp_sample_aligned_alloc(void);
void tramp_sample_posix_memalign(void), tramp_sample_free(void), tramp_sample_realloc(void);
void tramp_sample_reallocarray(void), tramp_sample_nothing(void);
void tramp_sample_aligned_alloc_relays(void), tramp_sample_posix_memalign_relays(void);
void tramp_sample_realloc_relays(void);

/* Is the return of a function with this gate intercepted? */
static inline int tramp_gate_returns(uint64_t gate)
{
	return gate == (uint64_t)(uintptr_t)tramp_gate_intercept ||
	       (gate >= (uint64_t)(uintptr_t)tramp_sample_begin && gate < (uint64_t)(uintptr_t)tramp_sample_end);
}

#endif
#endif
