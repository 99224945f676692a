/* SPDX-License-Identifier: MIT */
/*
 * Trampolines: the code that stubs jump to. It lies in libxaudit.so, never moves and is never freed.
 *
 * A site jumps to its stub, the stub through a gate, the gate through the handler table (runtime/dispatch.h) to one of
 * the trampolines here, which record the event in the calling thread's chunk and go on to the function's body. They
 * keep every register but the flags, use no vector register, take no lock and call C only off the fast path.
 *
 * Who touches what: struct tramp_state belongs to one thread and to the signal handlers that run on it; every update is
 * one instruction or may be repeated by a handler in between (each place in tramp.S says why). Other threads read it
 * never.
 *
 * Return interception (DESIGN 5). The trampoline takes the return address A out of stack slot S, keeps it in the mirror
 * entry of S and *calls* the body, so that S holds our label tramp_return. The body returns there; A comes back from
 * the mirror. The innermost open call on a stack is its tramp_stack.top; each mirror entry links to the one outside it.
 * Every path loads the pointer to the stack once and goes on with that: a handler that comes in between and runs on a
 * stack of its own changes the thread's pointer, not what we hold.
 * XRay functions return through their own exit sleds; their open calls are kept in the mirror of the word below their
 * slot.
 */
#ifndef XAUDIT_TRAMP_H
#define XAUDIT_TRAMP_H

/* Address of the mirror entry of slot S: MIRROR_BASE + 2*S. Also stands in the CFI of tramp_return. */
#define MIRROR_BASE (-0x900000000000)

/* Of tramp_checks. */
#define TRAMP_CHECK_COUNTED 1
#define TRAMP_CHECK_FILTERS 2
#define TRAMP_CHECK_HANDLERS 4
#define TRAMP_CHECK_COARSE 8

/* Events whose time is one reading of a coarse clock. */
#define TRAMP_COARSE_EVENTS 16

/* Of tramp_table, and how many ids it reaches. */
#define TRAMP_ONLY_COUNTED 1
#define TRAMP_BELOW	   2 /* runtime/filter.h's */
#define TRAMP_TABLE_IDS	   0x200000

#ifndef __ASSEMBLER__

#include <stdint.h>

/* What they read and write of a stack (mirror.h). Belongs to whoever runs on it. */
struct tramp_stack {
	uint64_t low, size; /* the slots whose mirror is mapped: low ... low+size-1 */
	uint64_t top;	    /* slot of the innermost open call; the stack's end when there is none */
};

/* What they read and write of a thread record. A record of zeros (a forked child's) sends every path to C. */
struct tramp_state {
	struct tramp_stack *stack; /* that the thread's events are on (runtime/recorder.h); NULL: none yet */
	uint64_t cursor;     /* where the next event goes, or may go; see chunk_bit */
	uint64_t chunk_bit;  /* set in every address of the chunk that takes events, clear behind it; 0: none does */
	uint64_t token;	     /* what lies in the chunk where no event does */
	uint32_t span;	     /* clock >> 31 of the last sync */
	uint32_t count_limit; /* so many function ids have a counter; 0: none has */
	uint64_t counts;      /* address of the counter of id 0; 8 bytes each */
	uint64_t read;	     /* clock = coarse: what was read of the clock last */
	uint32_t reuse;	     /* so many more events take it */
	uint32_t unused;
};

/* One open call. */
struct mirror_entry {
	uint64_t address; /* the real return address */
	uint32_t word;	  /* TRACE_WORD(TRACE_ENTRY, id) */
	uint32_t link;	  /* distance to the slot of the next outer open call, in words of 8 bytes */
};

static inline struct mirror_entry *mirror_entry(uint64_t slot)
{
	return (struct mirror_entry *)(uintptr_t)(MIRROR_BASE + 2 * slot);
}

/*
 * What the trampolines of the recorder look at before each event: 0 as a rule. TRAMP_CHECK_COUNTED: functions of
 * tramp_table may be only counted. TRAMP_CHECK_FILTERS: tramp_filter_*() decides. Set by runtime/filter.h; relaxed.
 * TRAMP_CHECK_HANDLERS: tramp_wanted is not 0; by runtime/handlers/handlers.h. TRAMP_CHECK_COARSE: the clock is read for one
 * event of TRAMP_COARSE_EVENTS, as long as nothing else is to be looked at; by runtime/recorder.h, before the first
 * event.
 */
extern uint32_t tramp_checks __attribute__((visibility("hidden")));

/* Which types of events go to tramp_handle_*(): bit n for enum handlers_type n. Set by runtime/handlers/handlers.h; relaxed. */
extern uint32_t tramp_wanted __attribute__((visibility("hidden")));

/* One byte per function id, as far as it reaches. */
extern uint8_t tramp_table[TRAMP_TABLE_IDS] __attribute__((visibility("hidden")));

/* The calling thread's record, NULL before its first event. Initial-exec: one load from %fs. */
extern __thread struct tramp_state *tramp_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The program has asked for a filter of system calls, or was about to; then 1, or 2. See x86_64/confined.h. */
extern uint32_t tramp_confined __attribute__((visibility("hidden")));

/* Event types of the handler table. */
enum tramp_event {
	TRAMP_INTERCEPT,  /* entry of a function whose return is intercepted */
	TRAMP_POINT,	  /* entry alone */
	TRAMP_XRAY_ENTRY,
	TRAMP_XRAY_EXIT,
	TRAMP_XRAY_TAIL,
	TRAMP_CUSTOM, /* an event sled, of a custom event */
	TRAMP_TYPED,  /* the same of a typed one */
	TRAMP_LANDED, /* a call that an exception's landing pad makes first: no event, but frames below it are gone */
	TRAMP_PRCTL,  /* a call of prctl(): no event, but it may take the TSC, or system calls, from us */
	TRAMP_SYSCALL, /* a call of syscall(): the same of system calls */
	TRAMP_LIMIT,  /* a call of setrlimit() or prlimit(): no event, but it may limit the addresses that there are */
	TRAMP_LOCK,   /* a call of mlockall(): no event, but it counts what is mapped */
	TRAMP_JUMP,   /* a call of longjmp(env, ...): no event, but frames below env's stack pointer are about to go */
	TRAMP_EVENTS
};

/*
 * The trampolines, one set per clock. Not C functions: the stack and registers on entry are those of a stub (stub.h).
 */
void tramp_intercept_tsc(void), tramp_intercept_mono(void);
void tramp_point_tsc(void), tramp_point_mono(void);
void tramp_xray_entry_tsc(void), tramp_xray_entry_mono(void);
void tramp_xray_exit_tsc(void), tramp_xray_exit_mono(void);
void tramp_xray_tail_tsc(void), tramp_xray_tail_mono(void);

/* Of event sleds, for every clock; and while nothing is recorded. */
void tramp_custom(void), tramp_typed(void);
void tramp_custom_pass(void), tramp_typed_pass(void);

/*
 * Count the call in the thread's counters and go on; no clock, no interception. For TRAMP_INTERCEPT, TRAMP_POINT;
 * TRAMP_XRAY_ENTRY.
 */
void tramp_count(void), tramp_xray_count(void);

/* Nothing is recorded: go on to the function. For the same events. */
void tramp_pass(void), tramp_xray_pass(void);

/*
 * XRay exits and tails while nothing new is recorded: only a call that is open, and the innermost, still ends in the
 * trace.
 */
void tramp_xray_exit_idle_tsc(void), tramp_xray_exit_idle_mono(void);
void tramp_xray_tail_idle_tsc(void), tramp_xray_tail_idle_mono(void);

/* These read no clock. Stack on entry as tramp_intercept's; they jump to the body. */
void tramp_landed(void), tramp_jump(void), tramp_prctl(void), tramp_syscall(void);
void tramp_limit(void), tramp_lock(void);

/*
 * Return labels of the two sets: what a slot of an intercepted call holds. Calls that began by the TSC may be open
 * when the trampolines are changed to the other clock, never the other way round.
 */
extern const char tramp_return_tsc[], tramp_return_mono[];

/* Gates: `jmp *dispatch_table[event]`. A stub page holds their addresses. */
void tramp_gate_intercept(void), tramp_gate_point(void);
void tramp_gate_xray_entry(void), tramp_gate_xray_exit(void), tramp_gate_xray_tail(void);
void tramp_gate_landed(void), tramp_gate_jump(void), tramp_gate_prctl(void), tramp_gate_syscall(void);
void tramp_gate_limit(void), tramp_gate_lock(void);
void tramp_gate_custom(void), tramp_gate_typed(void);

/* Where the gates go: one trampoline per event. Defined in runtime/dispatch.c, which says who writes it. */
extern void (*dispatch_table[TRAMP_EVENTS])(void) __attribute__((visibility("hidden")));

/* What the slow paths answer. */
enum tramp_answer {
	TRAMP_AGAIN, /* state is in order now: run the fast path again */
	TRAMP_POINTED, /* can't keep this call open: record an entry alone and go to the body */
	TRAMP_PASS,  /* nothing is recorded on this thread: go on as if untraced */
};

/*
 * Slow paths, provided by runtime/ and called by tramp.S alone, on the program's thread and stack. General registers
 * only, no libc, async-signal-safe.
 */

/* The thread has no record, slot lies outside its known stack, or open calls below slot must be ended. */
enum tramp_answer tramp_slow_enter(uint64_t slot);

/* The same for an XRay entry, whose call is kept at x, the word below its slot. */
enum tramp_answer tramp_slow_enter_xray(uint64_t x);

/*
 * A call at slot ends and is not the innermost open one of the stack used last. Ends what lies below it as unwound. On
 * return top == slot (TRAMP_AGAIN), or the call is not known as open (TRAMP_POINTED: record the end, leave top alone).
 */
enum tramp_answer tramp_slow_leave(uint64_t slot);

/*
 * An exception has landed in the frame that makes a call at slot: open calls at or below it are gone, whatever their
 * slots hold.
 */
enum tramp_answer tramp_slow_landed(uint64_t slot);

/* The thread is about to longjmp through env (a jmp_buf): ends the open calls whose frames go. */
enum tramp_answer tramp_slow_jump(uint64_t env);

/*
 * The thread is about to call prctl(PR_SET_TSC, PR_TSC_SIGSEGV) with its stack at sp: from then on no trampoline and
 * no return label of it reads the TSC.
 */
enum tramp_answer tramp_slow_prctl(uint64_t sp);

/*
 * The thread, with its stack at sp, is about to put itself or all threads under a filter of system calls: asks for what
 * will be needed, and sets tramp_confined. Called until that is set.
 */
enum tramp_answer tramp_slow_confine(uint64_t sp);

/*
 * The thread is about to be allowed nothing but read, write and exit, and no TSC (SECCOMP_MODE_STRICT): nothing more is
 * recorded of the process, and no call of the thread returns through a label. The argument is none.
 */
enum tramp_answer tramp_slow_strict(uint64_t unused);

/*
 * Addresses are about to be limited, or what is mapped to be counted: gives back what is not used. The argument is
 * none.
 */
enum tramp_answer tramp_slow_shrink(uint64_t unused);

/*
 * The chunk is full, the clock's span changed, another event lies where this one should go, or a handler came to
 * another stack in between. found: what lies there, or the address, or 0. Records the event with a clock of its own,
 * unless it is there already; or it is lost, and counted. slot: an address on the stack that it is on.
 */
void tramp_slow_event(uint64_t found, uint64_t event, uint64_t slot);

/*
 * An event sled is passed: records the event and tells handlers. As XRay declares its handlers: of type 16 bits count,
 * of size 32; compilers before clang 18 leave what they find in the others.
 */
void tramp_custom_event(const void *data, uint64_t size),
	tramp_typed_event(uint64_t type, const void *data, uint64_t size);

/*
 * The function id has no counter on this thread yet. TRAMP_AGAIN: now it has. TRAMP_PASS: it can't; the call is lost,
 * and counted as such.
 */
enum tramp_answer tramp_slow_count(uint64_t id);

/*
 * The rules have filters. May the call at slot be recorded? Its word lies in the 8 bytes below slot. TRAMP_AGAIN: yes,
 * and it is taken for open from now on (but by tramp_filter_point, whose calls have no end). TRAMP_PASS: no.
 * TRAMP_POINTED: no, since its time will not be known; but handlers are told of it.
 */
enum tramp_answer tramp_filter_enter(uint64_t slot), tramp_filter_point(uint64_t slot);

/* The same of an XRay call. at: address of its word; its slot X lies 5 words above. */
enum tramp_answer tramp_filter_enter_xray(uint64_t at);

/*
 * The innermost open call, at slot, ends at this clock, of which the low half counts. TRAMP_PASS: it was too short;
 * its entry is gone, and it is open no more. TRAMP_AGAIN: record its end.
 */
enum tramp_answer tramp_filter_leave(uint64_t slot, uint64_t clock);

/*
 * The innermost open call, at slot, ends by a jump to the function whose word lies in the 8 bytes below slot.
 * TRAMP_PASS: it was too short; its entry is gone, and the other one is open in its place. TRAMP_AGAIN: record its
 * end.
 */
enum tramp_answer tramp_filter_tail(uint64_t slot);

/*
 * An XRay function leaves that is not the innermost open call. TRAMP_PASS: it was never recorded. TRAMP_AGAIN: see
 * tramp_slow_leave().
 */
enum tramp_answer tramp_filter_gone(uint64_t slot);

/* ---- Handlers: functions of the program (runtime/handlers/handlers.h) ---- */

struct handlers_registers;

/*
 * Call the handlers of the event that happened at clock, for a trampoline with this frame (runtime/handlers/calls.c
 * says what the frames hold). Registers are the program's but for rsp, which is filled in. Return 0 when the event is
 * to be recorded with that clock; 1 when clock and stack are to be looked at anew: the handler took its time, raised
 * events, forked ...
 */
uint32_t tramp_handle_enter(struct handlers_registers *registers, const uint64_t *frame, uint64_t clock);
uint32_t tramp_handle_point(struct handlers_registers *registers, const uint64_t *frame, uint64_t clock);
uint32_t tramp_handle_leave(struct handlers_registers *registers, const uint64_t *frame, uint64_t clock);
/* word: the event's; of exit and tail in the upper half. */
uint32_t tramp_handle_xray_enter(
	struct handlers_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);
uint32_t tramp_handle_xray_exit(
	struct handlers_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);
uint32_t tramp_handle_xray_tail(
	struct handlers_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);

/* The event clock where it is not to be read by rdtsc. */
uint64_t tramp_clock(void);

#endif
#endif
