/* SPDX-License-Identifier: MIT */
/*
 * The contract: all that the code in x86_64/ needs from the code above it. runtime/ defines each function and each
 * word; a replacement of runtime/ must do so, too, and for a port it tells what trampolines of another machine have to
 * call, and when. Nothing else of runtime/ or audit/ is named in x86_64/: t/calls/runtime-imports.t compares what its
 * library lacks with the lines here that begin with CONTRACT, one name each.
 *
 * Functions: they are called on the program's thread and stack, in the middle of the program's call, by trampolines
 * alone (tramp*.S; control_run() by control.S). They use general registers alone, and no libc; they are
 * async-signal-safe, and may be interrupted at any instruction by a handler that makes events, forks, or jumps away.
 *
 * Words: the trampolines load each by one instruction. Unless it says otherwise, it does not matter when a store is
 * seen, so relaxed stores are enough. The content of struct tramp_state (tramp.h), which runtime/ keeps, belongs to the
 * contract, too: a thread whose tramp_self is NULL, or points to a record of zeros, comes to tramp_slow_enter() and its
 * like.
 *
 * Two functions are given by pointers, since trampolines don't call them: mirror_init() (mirror.h), and
 * dlclose_call_ways (dlclose_call.h).
 *
 * Who has them:
 *	runtime/base/identity.c:
 *		tramp_confined
 *	runtime/calls/calls.c:
 *		tramp_slow_enter, tramp_slow_enter_xray, tramp_slow_leave, tramp_slow_event, tramp_slow_probe
 *	runtime/calls/filter_calls.c:
 *		tramp_filter_enter, tramp_filter_point, tramp_filter_enter_xray, tramp_filter_leave,
 *		tramp_filter_tail_xray, tramp_filter_tail, tramp_filter_gone, tramp_filter_probe
 *	runtime/calls/libc_calls.c:
 *		tramp_slow_landed, tramp_slow_jump, tramp_slow_caller, tramp_slow_prctl, tramp_slow_confine,
 *		tramp_slow_strict, tramp_slow_shrink, tramp_slow_reach, tramp_slow_descriptors, tramp_slow_rights
 *	runtime/calls/values_calls.c:
 *		tramp_values_enter, tramp_values_leave, tramp_values_xray_enter, tramp_values_xray_exit,
 *		tramp_values_probe
 *	runtime/control.c:
 *		control_run, control_block
 *	runtime/custom.c:
 *		tramp_custom_event, tramp_typed_event
 *	runtime/handlers/events.c:
 *		tramp_handle_enter, tramp_handle_point, tramp_handle_leave, tramp_handle_xray_enter,
 *		tramp_handle_xray_exit, tramp_handle_xray_tail, tramp_handle_probe
 *	runtime/handlers/handlers.c:
 *		tramp_wanted
 *	runtime/process/clock.c:
 *		tramp_clock
 *	runtime/process/execute.c:
 *		tramp_slow_exec
 *	runtime/process/thread.c:
 *		tramp_self
 *	runtime/record/count.c:
 *		tramp_slow_count
 *	runtime/record/dispatch.c:
 *		dispatch_table, dispatch_watched, tramp_sampling
 *	runtime/record/filter.c:
 *		tramp_checks, tramp_table
 *	runtime/record/own_labels.c:
 *		tramp_slow_label
 *	runtime/values/plans.c:
 *		tramp_values
 *	runtime/values/sample.c:
 *		tramp_sample, tramp_sampled, tramp_sampled_more
 */
#ifndef XAUDIT_X86_64_CONTRACT_H
#define XAUDIT_X86_64_CONTRACT_H

/* Bits of tramp_checks. */
#define TRAMP_CHECK_COUNTED  1 /* functions of tramp_table may be only counted */
#define TRAMP_CHECK_FILTERS  2 /* tramp_filter_*() decides */
#define TRAMP_CHECK_HANDLERS 4 /* tramp_wanted is not 0 */
#define TRAMP_CHECK_VALUES   8 /* XRay functions of tramp_table may have values */
#define TRAMP_CHECK_MUTED    16 /* tramp_filter_probe() decides, of probes */

/* A coarse clock is read for one event in so many (tramp.h); a power of two, at most 16. */
#define TRAMP_COARSE_EVENTS 16

/* Bits of tramp_wanted: types of events that go to tramp_handle_*(). */
#define TRAMP_WANTED_ENTRY     1
#define TRAMP_WANTED_EXIT      2
#define TRAMP_WANTED_TAIL      4
#define TRAMP_WANTED_ARGUMENTS 16 /* as TRAMP_WANTED_ENTRY */
#define TRAMP_WANTED_PROBE     128

/* Bits of tramp_table, and how many ids it has. The code that defines it may use the other bits. */
#define TRAMP_ONLY_COUNTED 1
#define TRAMP_HAS_VALUES   4 /* of an XRay function: its word is to have TRAMP_WORD_VALUES */
#define TRAMP_STARTS	   8 /* comes in any case to tramp_values_*(), which may leave it out: its word has VALUES */
#define TRAMP_TABLE_IDS	   0x200000

/*
 * The set of sampled blocks: how many buckets its levels have, by powers of 2; a block's bucket is in the upper bits of
 * (x ^ x >> 32) * HASH, where x is its address times HASH: addresses have regular distances, which one product would
 * keep. Aligned blocks of at most this alignment are what malloc gives, too.
 */
#define TRAMP_SAMPLED_BITS   8
#define TRAMP_SAMPLED_BITS_2 12
#define TRAMP_SAMPLED_BITS_3 16
#define TRAMP_SAMPLED_BITS_4 20
#define TRAMP_SAMPLED_HASH   0x9e3779b97f4a7c15
#define TRAMP_BUCKET	     7 /* blocks */
#define TRAMP_SAMPLE_ALIGNED 16

/* Where control_block has the word that control_entry sets to 1, and back to 0. */
#define CONTROL_BLOCK_RUNNING 8

/*
 * Bits of the word of a function (in its cell, and while a call is open in the mirror), beside its type, which is that
 * of an entry, or a probe's: less than 8. VALUES: tramp_values_*() records its events. SILENT, beside VALUES: this call
 * has no events.
 */
#define TRAMP_WORD_VALUES 0x80000000
#define TRAMP_WORD_SILENT 0x40000000

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "x86_64/tramp.h" /* struct tramp_state */

#define CONTRACT extern __attribute__((visibility("hidden")))

/* ---- Words ---- */

/* The word that the recorder's trampolines test before each event: TRAMP_CHECK_...; 0 as a rule. */
CONTRACT uint32_t tramp_checks;

/* TRAMP_WANTED_... */
CONTRACT uint32_t tramp_wanted;

/* One byte per function id, as far as it reaches. */
CONTRACT uint8_t tramp_table[TRAMP_TABLE_IDS];

/*
 * The calling thread's record, NULL before its first event. Belongs to the thread and to handlers on it. Initial-exec:
 * one load from %fs.
 */
CONTRACT __thread struct tramp_state *tramp_self __attribute__((tls_model("initial-exec")));

/* 1 or 2 when the program has asked for a filter of system calls, or was about to. See x86_64/confined.h. */
CONTRACT uint32_t tramp_confined;

/*
 * Where the gates go: one trampoline per event. Filled before the first stub is reached. Any entry may change at any
 * time, by one store: threads take the old or the new entry.
 */
CONTRACT void (*dispatch_table[TRAMP_EVENTS])(void);

/* As dispatch_table, where tramp_watch and its like go on for ids with TRAMP_STARTS: trampolines that record. */
CONTRACT void (*dispatch_watched[TRAMP_EVENTS])(void);

/*
 * Samples of memory (runtime/values/sample.h). left: so many bytes the thread asks for until the next one; as a signed
 * number 0 or less where there is one, and before the first call. The trampolines only subtract from it. state: of
 * random numbers, 0 before the first.
 */
struct tramp_sample {
	uint64_t left, state;
};
CONTRACT __thread struct tramp_sample tramp_sample __attribute__((tls_model("initial-exec")));

/* Blocks that are sampled and live: 0 in `block` is none. The trampolines only look. */
struct tramp_bucket {
	uint32_t here, further; /* so many are in it, or are in the next level as this bucket was full; or fewer */
	uint64_t block[TRAMP_BUCKET];
};
CONTRACT struct tramp_bucket tramp_sampled[1 << TRAMP_SAMPLED_BITS];

/* The second level's, and those of the others behind them. NULL: there are none. */
CONTRACT struct tramp_bucket *tramp_sampled_more;

/* 0: functions with samples are entered as others: nothing is recorded, or calls are counted. */
CONTRACT uint32_t tramp_sampling;

/* The block that a tool outside finds (remote.h). x86_64/ knows only its word at CONTROL_BLOCK_RUNNING. */
struct control_block;
CONTRACT struct control_block control_block;

/* ---- Slow paths ---- */

/* Answers of the slow paths. */
enum tramp_answer {
	TRAMP_AGAIN, /* state is in order now: run the fast path again */
	TRAMP_POINTED, /* can't keep this call open: record it entry-only and go to the body */
	TRAMP_PASS,  /* nothing is recorded on this thread: go on as if untraced */
	TRAMP_ENDED, /* the trace has an end of this call already: it returns without another one */
};

/* The thread has no record, slot lies outside its known stack, or open calls below slot must be ended. */
CONTRACT enum tramp_answer tramp_slow_enter(uint64_t slot);

/* tramp_slow_enter() for an XRay entry, whose call is kept at x, the word below its slot. */
CONTRACT enum tramp_answer tramp_slow_enter_xray(uint64_t x);

/*
 * A call at slot ends and is not the innermost open one of the stack used last. Ends the calls below it as unwound. On
 * return top == slot (TRAMP_AGAIN), or the call is not known as open (TRAMP_POINTED: record the end, leave top alone),
 * or it was ended as unwound although it returns (TRAMP_ENDED).
 */
CONTRACT enum tramp_answer tramp_slow_leave(uint64_t slot);

/*
 * A probe is passed by a function whose stack pointer is sp; the thread has no record, or is on another stack, or open
 * calls below it must be ended. As tramp_slow_enter(): TRAMP_POINTED, by tramp_slow_event().
 */
CONTRACT enum tramp_answer tramp_slow_probe(uint64_t sp);

/*
 * An exception has landed in the frame that makes a call at slot: open calls at or below it are gone, whatever their
 * slots hold.
 */
CONTRACT enum tramp_answer tramp_slow_landed(uint64_t slot);

/* The thread is about to longjmp through env (a jmp_buf): ends the open calls whose frames the jump leaves. */
CONTRACT enum tramp_answer tramp_slow_jump(uint64_t env);

/*
 * slot holds our label, and what is called there asks its return address who called it: so a call that is open there
 * has jumped to it as its last act. That call ends, and slot gets the real return address back.
 */
CONTRACT enum tramp_answer tramp_slow_caller(uint64_t slot);

/*
 * The thread is about to call prctl(PR_SET_TSC, PR_TSC_SIGSEGV) with its stack at sp: from then on no trampoline and
 * no return label of it reads the TSC.
 */
CONTRACT enum tramp_answer tramp_slow_prctl(uint64_t sp);

/*
 * The thread, with its stack at sp, is about to put itself or all threads under a filter of system calls: asks for what
 * will be needed, and sets tramp_confined. Called until that is set.
 */
CONTRACT enum tramp_answer tramp_slow_confine(uint64_t sp);

/*
 * The thread is about to be allowed nothing but read, write and exit, and no TSC (SECCOMP_MODE_STRICT): nothing more is
 * recorded of the process, and no call of the thread returns through a label. The argument means nothing.
 */
CONTRACT enum tramp_answer tramp_slow_strict(uint64_t unused);

/*
 * Addresses are about to be limited by the struct rlimit that the program has at `limit`, or (0) mapped memory to be
 * counted: gives back unused memory, unless that limit is none.
 */
CONTRACT enum tramp_answer tramp_slow_shrink(uint64_t limit);

/*
 * The size of files is about to be limited by the struct rlimit at `limit`: makes the file of the trace as large as it
 * may ever have to be, unless that limit is none.
 */
CONTRACT enum tramp_answer tramp_slow_reach(uint64_t limit);

/* The same for the number of descriptors: does so if none can be opened from then on, by whichever process. */
CONTRACT enum tramp_answer tramp_slow_descriptors(uint64_t limit);

/*
 * The thread is about to make a system call by which the process may give up rights, or fork: its number, and its first
 * three arguments. Leaves the family before rights go, where others have that (runtime/process/leave.h).
 */
CONTRACT enum tramp_answer tramp_slow_rights(const uint32_t call[4]);

/* A call of a function, with the arguments that registers hold, as tramp_exec() puts it on the stack. */
struct tramp_exec {
	uint64_t argument[6], rax; /* rax: of a variable list, how many vector registers it has */
	uint64_t body, word, slot; /* slot: the return address */
	uint64_t more[];	   /* the arguments on the stack */
};

/*
 * The thread is about to call a function that executes a program (runtime/process/execute.h): `word` tells which.
 * TRAMP_AGAIN: the call is to be made. TRAMP_ENDED: it was made, and returned what is now in rax.
 */
CONTRACT enum tramp_answer tramp_slow_exec(struct tramp_exec *call);

/*
 * The chunk is full, the clock's span changed, another event lies where this one should go, or a handler changed to
 * another stack in between. found: the word there, or the address, or 0. Records the event with a clock of its own,
 * unless it is there already; or it is lost, and counted. slot: an address on the stack that it is on.
 */
CONTRACT void tramp_slow_event(uint64_t found, uint64_t event, uint64_t slot);

/*
 * An event sled is passed: records the event and tells handlers. As XRay declares its handlers, 16 bits of type count,
 * and 32 of size; compilers before clang 18 leave any values in the other bits.
 */
CONTRACT void tramp_custom_event(const void *data, uint64_t size);
CONTRACT void tramp_typed_event(uint64_t type, const void *data, uint64_t size);

/*
 * The function id has no counter on this thread yet. TRAMP_AGAIN: now it has. TRAMP_PASS: it can't; the call is lost,
 * and counted as such.
 */
CONTRACT enum tramp_answer tramp_slow_count(uint64_t id);

/*
 * The return address has no label of its own yet, where each is to have one (labels.h). Returns its entry, or NULL: it
 * can't have one, and the call is counted as such.
 */
struct labels_entry;
CONTRACT struct labels_entry *tramp_slow_label(uint64_t address);

/*
 * The rules have filters. May the call at slot be recorded? Its word lies in the 8 bytes below slot. TRAMP_AGAIN: yes,
 * and it is taken for open from now on (but by tramp_filter_point, whose calls have no end). TRAMP_PASS: no.
 * TRAMP_POINTED: no, since its time will not be known; but handlers are told of it.
 */
CONTRACT enum tramp_answer tramp_filter_enter(uint64_t slot);
CONTRACT enum tramp_answer tramp_filter_point(uint64_t slot);

/* tramp_filter_enter() for an XRay call. at: address of its word; its slot X lies 5 words above. */
CONTRACT enum tramp_answer tramp_filter_enter_xray(uint64_t at);

/*
 * The innermost open call, at slot, ends at this clock, of which the low half counts. TRAMP_PASS: it was too short; its
 * entry is gone, and it is not open any more. TRAMP_AGAIN: record its end.
 */
CONTRACT enum tramp_answer tramp_filter_leave(uint64_t slot, uint64_t clock);

/* tramp_filter_leave() for an XRay call that ends by jumping elsewhere. */
CONTRACT enum tramp_answer tramp_filter_tail_xray(uint64_t x, uint64_t clock);

/*
 * The innermost open call, at slot, ends by a jump to the function whose word lies in the 8 bytes below slot.
 * TRAMP_PASS: it was too short; its entry is gone, and the new call is open in its place. TRAMP_AGAIN: record its end.
 */
CONTRACT enum tramp_answer tramp_filter_tail(uint64_t slot);

/* May a probe of the event's word be recorded? TRAMP_PASS: no. */
CONTRACT enum tramp_answer tramp_filter_probe(uint64_t word);

/*
 * An XRay function returns that is not the innermost open call. TRAMP_PASS: it was never recorded. TRAMP_AGAIN: see
 * tramp_slow_leave().
 */
CONTRACT enum tramp_answer tramp_filter_gone(uint64_t slot);

/* ---- Handlers: functions of the program ---- */

/* General registers of the program. rsp: at the function's entry, or after its return; of a probe, as it is. */
struct tramp_registers {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15;
};

/*
 * Call the handlers of the event that happened at clock, for a trampoline with this frame. Registers are the program's
 * but for rsp, which is filled in. Return 0 if the event shall be recorded with that clock; 1 if clock and stack must
 * be read anew: the handler took long, raised events, forked ...
 *
 * The words of the frame, S the slot of the call:
 *	enter, point	0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 the function's body, 6 the event's word, 7 S
 *	leave		0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 S
 *	xray_enter	0 r11, 1 rdx, 2 rcx, 3 rax, 4 return to the sled (word X), 5 S
 *	xray_exit	0 r11, 1 rdx, 2 rcx, 3 rax, 4 S
 *	xray_tail	0 r11, 1 rdx, 2 rcx, 3 rax, 4 return to the sled, 5 S
 *	probe		0 r11, 1 r10, 2 rdx, 3 rcx, 4 rax, 5 flags, 6 return into the stub, 7 the event's word, 8 RESUME
 *			(probe.h), then 16 words of the red zone, then what the function's rsp points to
 */
CONTRACT uint32_t tramp_handle_enter(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock);
CONTRACT uint32_t tramp_handle_point(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock);
CONTRACT uint32_t tramp_handle_leave(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock);
CONTRACT uint32_t tramp_handle_probe(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock);
/* word: the event's; of exit and tail in the upper half. */
CONTRACT uint32_t tramp_handle_xray_enter(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);
CONTRACT uint32_t tramp_handle_xray_exit(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);
CONTRACT uint32_t tramp_handle_xray_tail(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t word);

/* ---- Values ---- */

#define TRAMP_QUICK_PIECES 12
#define TRAMP_TEXT_MOST	   64 /* longer texts are for C */
#define TRAMP_PLACE_COUNT  20 /* 4 bytes there */
#define TRAMP_PLACE_FIRST  24

/*
 * An end of calls whose event trampolines record themselves, since its values are registers, as they are: `words` words
 * of payload, each of two pieces of 4 bytes. Where a piece is: TRAMP_QUICK_..., and 4 more for an upper half.
 */
struct tramp_quick {
	/*
	 * Not 0: the payload is one word, and comes late; this is the event's word then, with TRACE_VALUED_LATE, moved
	 * up by 32. Which bits of the payload are those of the first register (rdi, of an end rax), and of the next one
	 * (rsi), moved up by 32. Of a probe: the payload is one word or two, each a register that piece[0] and piece[2]
	 * tell, and its first word comes late.
	 */
	uint64_t late, first, next;
	/*
	 * Not 0: the payload is a text, whose address piece[0] tells, and comes late; this is the event's word then,
	 * for a payload of one word, moved up by 32. place leads to the memory that is the load's: where
	 * TRAMP_PLACE_COUNT says how many segments follow, and TRAMP_PLACE_FIRST is the first one's begin and end;
	 * *place NULL: it is not known.
	 */
	uint64_t text;
	const void *const *place;
	uint32_t event;	   /* the event's word; 0: C records it */
	uint32_t reserved; /* that of its reservation */
	uint8_t words;	   /* 0: it has no values */
	uint8_t plain;	   /* of an entry: the end is as that of other functions */
	uint8_t piece[TRAMP_QUICK_PIECES];
};

/* Bytes from the stack pointer, where the trampoline has its registers (tramp_calls.h, VALUES_QUICK). */
enum tramp_quick_place {
	TRAMP_QUICK_ZERO = 0,
	TRAMP_QUICK_RDI = 8,
	TRAMP_QUICK_RSI = 16,
	TRAMP_QUICK_R8 = 24,
	TRAMP_QUICK_R9 = 32,
	TRAMP_QUICK_RDX = 56,
	TRAMP_QUICK_RCX = 64,
	TRAMP_QUICK_RAX = 72,
};

struct tramp_values {
	struct tramp_quick entry, end;
};

/*
 * By function id, TRAMP_TABLE_IDS of them; an entry NULL: it has no values. What a pointer leads to does not change.
 * NULL before a word has TRAMP_WORD_VALUES: then no trampoline looks.
 */
CONTRACT struct tramp_values **tramp_values;

/*
 * Record the event of a call whose word has TRAMP_WORD_VALUES, with its values (runtime/values/). Frames are those of
 * tramp_handle_enter(), and of tramp_handle_leave(), with the return address in S again. enter: the call is open
 * already, unless the type in the frame's word is that of an event without an end. leave: clock: when it ended.
 */
CONTRACT void tramp_values_enter(struct tramp_registers *registers, const uint64_t *frame, uint64_t unused);
CONTRACT void tramp_values_leave(struct tramp_registers *registers, const uint64_t *frame, uint64_t clock);

/* The same of a probe, with the frame of tramp_handle_probe(). No call begins or ends. */
CONTRACT void tramp_values_probe(struct tramp_registers *registers, const uint64_t *frame, uint64_t unused);

/* The same of XRay functions, with the frames of tramp_handle_xray_enter() and tramp_handle_xray_exit(). */
CONTRACT void tramp_values_xray_enter(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t unused, uint64_t word);
CONTRACT void tramp_values_xray_exit(
	struct tramp_registers *registers, const uint64_t *frame, uint64_t clock, uint64_t unused);

/* The event clock, if it can't be read by rdtsc. */
CONTRACT uint64_t tramp_clock(void);

/* ---- Control from outside ---- */

/*
 * Does what the tool's request asks for (remote.h). On a stack of ours, called by control_entry alone.
 */
CONTRACT void control_run(void);

#endif
#endif
