/* SPDX-License-Identifier: MIT */
/*
 * Assembler macros that the trampolines share (tramp.h tells what those are for, contract.h which C they call). For
 * every trampoline:
 *
 *	in	stack as drawn at each; XRay: r10d = the event's word
 *	out	all registers as on entry, flags undefined (no ABI passes anything in them over a call or a return), but
 *		no carry at an entry by a cell stub (OpenSSL's __rsaz_512_mulx adds with that of its callers, which
 *		have none); XRay: r10 undefined, as its sleds write it anyway
 *
 * Signal handlers may interrupt anywhere and run traced functions on the same record: an event is stored only where no
 * other one is, by one instruction (runtime/record/recorder.h); `top` is stored after the mirror entry that it names is
 * complete, and after an exit's event; nothing that lies above %rsp-128 is touched by the kernel.
 */
#ifndef XAUDIT_TRAMP_PIECES_H
#define XAUDIT_TRAMP_PIECES_H

#include "x86_64/contract.h"
#include "x86_64/labels.h"
#include "x86_64/offsets.h"
#include "x86_64/tramp.h"

/* push and pop in this order, and the unwinder told. */
.macro	SAVE	regs:vararg
.irp	reg, \regs
	push	\reg
	.cfi_adjust_cfa_offset 8
.endr
.endm

.macro	RESTORE	regs:vararg
.irp	reg, \regs
	pop	\reg
	.cfi_adjust_cfa_offset -8
.endr
.endm

/* A frame that rbp names. */
.macro	FRAME
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
.endm

/*
 * Tells unwinders that the return address lies at MIRROR_BASE + 2*(CFA-below): lit; minus; lit1; shl; const1s -9;
 * const1u 44; shl; plus. valgrind reads no constants of 8 bytes.
 */
.if	MIRROR_BASE + (9 << 44)
	.error	"MIRROR_BASE is another one"
.endif
.macro	RETURNS_BY_MIRROR below
	.cfi_escape 0x10, 16, 10, 0x30 + \below, 0x1c, 0x31, 0x24, 0x09, 0xf7, 0x08, 44, 0x24, 0x22
.endm

/*
 * For unwinders, those too that see the stack alone and the file of labels: the return address stands in the entry of
 * the label in S = CFA-8: *(*(CFA-8) - LABELS_LABEL).
 */
.macro	RETURNS_BY_LABEL
	.cfi_escape 0x16, 16, 10, 0x38, 0x1c, 0x06, 0x0d, LABELS_LABEL & 0xff, (LABELS_LABEL >> 8) & 0xff, \
		(LABELS_LABEL >> 16) & 0xff, LABELS_LABEL >> 24, 0x1c, 0x06
.endm

/* rcx = this thread's record; jumps to \none when there is none. */
.macro	SELF	none
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	test	%rcx, %rcx
	jz	\none
.endm

/* SELF without a test, where a record is certain. */
.macro	SELF_AGAIN reg=%rcx
	mov	tramp_self@gottpoff(%rip), \reg
	mov	%fs:(\reg), \reg
.endm

/* reg = the stack that the thread of record rcx used last; jumps to \none when there is none. */
.macro	STACK	reg, none
	mov	STATE_STACK(%rcx), \reg
	test	\reg, \reg
	jz	\none
.endm

/* rdx:rax = clock, whole. */
.macro	CLOCK	clock
.ifc	\clock, mono
	call	read_clock
.else
	rdtsc
.endif
.ifc	\clock, coarse
	KEEP_READING
.endif
.endm

/* CLOCK where rcx is no record. */
.macro	CLOCK_APART clock
.ifc	\clock, coarse
	CLOCK	tsc
.else
	CLOCK	\clock
.endif
.endm

/*
 * Keeps the clock in rdx:rax as the last reading, unless it is of another span, which C tells the trace first. rcx =
 * record. A handler in between that read the clock leaves its own reading, or is before ours: no span but the
 * reading's.
 */
.macro	KEEP_READING
	shl	$32, %rdx
	or	%rax, %rdx
	mov	STATE_READ(%rcx), %rax
	xor	%rdx, %rax
	test	$-0x80000000, %rax		/* all but the low 31 bits */
	jnz	7f
	xor	%rdx, %rax
	cmpxchg	%rdx, STATE_READ(%rcx)		/* no lock: only our own signal handlers compete */
7:	mov	%edx, %eax
	shr	$32, %rdx
.endm

/*
 * Goes to \yes when \value is a return label of ours that calls of this set may find. The clock that is read when the
 * TSC is gone finds labels of calls that were open before, too; own_tsc, own_mono, own_coarse and all find any.
 * Clobbers \reg.
 */
.macro	IF_LABEL value, reg, yes, set
.ifc	\set, coarse
	lea	tramp_return_coarse(%rip), \reg
	cmp	\reg, \value
	je	\yes
.else
	lea	tramp_return_tsc(%rip), \reg
	cmp	\reg, \value
	je	\yes
.ifnc	\set, tsc
	IF_LABEL \value, \reg, \yes, coarse
	lea	tramp_return_mono(%rip), \reg
	cmp	\reg, \value
	je	\yes
.ifnc	\set, mono
	lea	tramp_labels_code(%rip), \reg
	neg	\reg
	add	\value, \reg
	cmp	$LABELS_TABLE, \reg
	jb	\yes
.endif
.endif
.endif
.endm

/* How many lines of the next chunk an event fetches that reads the clock (STORE). */
.set	LINES_tsc, 1
.set	LINES_mono, 1
.set	LINES_coarse, TRAMP_COARSE_EVENTS * 8 / 64

/*
 * Writes one event. r10 = word << 32 | low half of the clock, rax:rdx = low and high half as CLOCK left them, rcx =
 * record, r11 = the stack that it is on. Clobbers rax, rdx. Jumps to \slow when the span changed, the chunk is full, a
 * handler's event was on another stack, or another event is where this one should go; nothing was written then, unless
 * rax == r10 (EVENT_SLOW). lines: as of STORE.
 */
.macro	WRITE	slow, lines=0
	add	%eax, %eax			/* edx = clock >> 31, as 32 bits: its change */
	adc	%edx, %edx			/* keeps signed 32-bit differences unambiguous */
	mov	STATE_CURSOR(%rcx), %rax	/* before the span: code that changes that, moves this */
	cmp	%edx, STATE_SPAN(%rcx)
	jne	\slow
	mov	%rax, %rdx
	STORE	\slow, \lines
.endm

/*
 * WRITE with the last reading as the clock: r10 = word << 32. Goes to \read where it is time for a reading of its own:
 * at one word of TRAMP_COARSE_EVENTS. The span is the reading's, which changes with it (tramp.h); the cursor is loaded
 * before, so a handler that changes them moves this.
 */
.macro	WRITE_SHARED read, slow
	mov	STATE_CURSOR(%rcx), %rdx
	test	$(TRAMP_COARSE_EVENTS - 1) * 8, %dl
	jz	\read
	mov	STATE_READ(%rcx), %eax
	or	%rax, %r10
	STORE	\slow
.endm

/*
 * WRITE with the clock that handlers were told: whole, in r9, whose own value is taken back from the stack here. r10d =
 * word.
 */
.macro	WRITE_TOLD slow
	shl	$32, %r10
	mov	%r9d, %eax
	or	%rax, %r10
	mov	%r9, %rdx
	shr	$31, %rdx
	RESTORE	%r9
	mov	STATE_CURSOR(%rcx), %rax
	cmp	%edx, STATE_SPAN(%rcx)
	jne	\slow
	mov	%rax, %rdx
	STORE	\slow
.endm

/*
 * rdx = where, rax != r10. A handler that came since the cursor was loaded has stored something there, or nothing
 * anywhere. lines: so many cache lines of the next chunk are fetched to be written to, as far into it as this event is;
 * else filling it with tokens would wait for each of them. To the processor this is a hint, whatever lies there: the
 * last line may be one behind the chunk. Ends of calls give it, and entries that have no end: once in 16 bytes is
 * enough. With a coarse clock each event gives it that reads that.
 */
.macro	STORE	slow, lines=0
	cmp	%r11, STATE_STACK(%rcx)
	jne	\slow
	test	%rdx, STATE_CHUNK_BIT(%rcx)
	jz	\slow
.if \lines
	movslq	STATE_AHEAD(%rcx), %rax
	prefetchw (%rdx,%rax)
.if \lines > 1
	prefetchw 64(%rdx,%rax)
.endif
.endif
	mov	STATE_TOKEN(%rcx), %rax
	cmpxchg	%r10, (%rdx)			/* no lock: only our own signal handlers, and forked twins, compete */
	jne	\slow
	addq	$8, STATE_CURSOR(%rcx)		/* relative: a handler may have moved it, or changed the chunk */
.endm

/*
 * From the \slow of WRITE, rax and r10 as it left them: has the event recorded. slot: an address on its stack, from
 * rsp.
 */
.macro	EVENT_SLOW slot
	lea	\slot(%rsp), %rdx
	SLOW	tramp_slow_event
.endm

/* EVENT_SLOW off the fast path, r10 = word << 32, whatever the clock and the thread's stack are. */
.macro	EVENT_COLD slot
	xor	%eax, %eax
	EVENT_SLOW \slot
.endm

/* eax = id of the word in eax; flags: above, when the table does not reach it. */
.macro	TABLE_ID
	and	$ID_MASK, %eax
	cmp	$TRAMP_TABLE_IDS - 1, %eax
.endm

/*
 * Counts a call of function eax on this thread, and goes to \done; also when it can't be counted. way: to C, as SLOW.
 * Clobbers rax, rcx, rdx. A handler that makes the counters more leaves those that we may have loaded where they are:
 * they are the same pages of the file. A child that is forked after the last comparison counts this one call in its
 * parent's counters.
 */
.macro	COUNT	done, way=SLOW
9:	SELF	8f
	mov	STATE_COUNTS(%rcx), %rdx
	cmp	STATE_COUNT_LIMIT(%rcx), %eax
	jae	8f
	cmp	%rdx, STATE_COUNTS(%rcx)	/* made larger, or wiped by fork, in between */
	jne	9b
	incq	(%rdx,%rax,8)
	jmp	\done
8:	SAVE	%rax
	\way	tramp_slow_count
	mov	%eax, %ecx
	RESTORE	%rax
	cmp	$ANSWER_AGAIN, %ecx
	je	9b
	jmp	\done
.endm

/* Is the function of \word only counted? Then it is, and \counted comes next; else \other. Clobbers rax, rcx, rdx. */
.macro	CHECKED	word, other, counted
	mov	\word, %eax
	TABLE_ID
	ja	\other
	lea	tramp_table(%rip), %rcx
	testb	$TRAMP_ONLY_COUNTED, (%rcx,%rax)
	jz	\other
	COUNT	\counted
.endm

/*
 * Calls the handlers of the program: tramp_handle_\event by \way, handler_call or handler_call_xray; its result in eax.
 * rdx = clock, which is kept; clobbers rax, rcx and flags.
 */
.macro	HANDLERS event, way
	lea	tramp_handle_\event(%rip), %rax
	mov	%rsp, %rcx
	call	\way
.endm

/* HANDLERS with the clock read here, whole; in rdx afterwards. */
.macro	HANDLERS_NOW event, way, clock
	CLOCK_APART \clock
	shl	$32, %rdx
	or	%rax, %rdx
	HANDLERS \event, \way
.endm

/*
 * Calls a C function off the fast path: rax = argument, r10 = the second, rdx = the third, result in eax. Clobbers rcx,
 * rdx.
 */
.macro	SLOW	function
	lea	\function(%rip), %rcx
	call	slow_call
.endm

#endif
