/* SPDX-License-Identifier: MIT */
/* Macros of tramp_intercept.S: how a call is opened in the mirror, and how it ends there. As tramp_pieces.h. */
#ifndef XAUDIT_TRAMP_CALLS_H
#define XAUDIT_TRAMP_CALLS_H

#include "x86_64/tramp_pieces.h"

/*
 * Off the fast path of enter or point, stack as there, before anything is done. Calls that are only counted or left out
 * jump to their body. Otherwise the handlers are called. If none is wanted, or if clock and stack must be read anew
 * after them, this goes on at .L\name_alone, as without handlers. Else it comes out at the end of the macro, where the
 * event is still to be recorded: r9 = the whole clock that the handlers saw; the caller's r9 pushed (stack 8 deeper).
 */
.macro	ADMIT	name, set, clock
	testl	$TRAMP_CHECK_COUNTED | TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.L\name\()_handled_\set
	CHECKED	48(%rsp), .L\name\()_filtered_\set, .Ljump_\set
.L\name\()_filtered_\set:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.L\name\()_handled_\set
	lea	56(%rsp), %rax
	SLOW	tramp_filter_\name
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\set
	cmp	$ANSWER_POINTED, %eax
	jne	.L\name\()_handled_\set
	testl	$WANTED_ENTRY, tramp_wanted(%rip)
	jz	.Ljump_\set
	HANDLERS_NOW \name, handler_call, \clock
	jmp	.Ljump_\set
.L\name\()_handled_\set:
	mov	tramp_wanted(%rip), %eax
	test	$WANTED_ENTRY, %eax
	jnz	.L\name\()_called_\set
.ifc	\name, enter
	test	$WANTED_TAIL, %eax		/* the call that tail-jumped here ends */
	jz	.L\name\()_alone_\set
	IF_LABEL 56(%rsp), %rax, .L\name\()_called_\set, \set
.endif
	jmp	.L\name\()_alone_\set
.L\name\()_called_\set:
	HANDLERS_NOW \name, handler_call, \clock
	test	%eax, %eax
	jnz	.L\name\()_alone_\set
	SAVE	%r9
	mov	%rdx, %r9
	SELF	.L\name\()_late_\set
.endm

/*
 * Enters the call at S into the mirror, or goes elsewhere. deep: bytes that lie on the frame. rcx = record; afterwards
 * r11 = stack; clobbers rax, rdx, r10.
 */
.macro	OPEN	deep, slow, tail, set
	STACK	%r11, \slow
	lea	56+\deep(%rsp), %rdx		/* S */
	mov	%rdx, %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	\slow
	IF_LABEL (%rdx), %rax, \tail, \set	/* in place of A */
	mov	STACK_TOP(%r11), %rax
	sub	%rdx, %rax
	jbe	\slow				/* open calls at or below S are dead */
	shl	$29, %rax			/* distance in words, in the upper half */
	or	48+\deep(%rsp), %rax
	movabs	$MIRROR_BASE, %r10
	mov	%rax, ENTRY_WORD(%r10,%rdx,2)
	mov	(%rdx), %rax			/* A */
	mov	%rax, ENTRY_ADDRESS(%r10,%rdx,2)
	/* After the entry is whole, and before the event: a handler that jumps away leaves nothing open. */
	mov	%rdx, STACK_TOP(%r11)
.endm

/*
 * A call at S that ends unseen: are open calls at or below it dead, or is this another stack? Then elsewhere. rcx =
 * record; afterwards r11 = stack; clobbers rax.
 */
.macro	POINT	deep, slow
	STACK	%r11, \slow
	lea	56+\deep(%rsp), %rax
	cmp	%rax, STACK_TOP(%r11)
	jbe	\slow
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	\slow
.endm

/* For unwinders: A is in its slot again, where a label's entry had it. */
.macro	RETURNS_BY_SLOT own
.if \own
	.cfi_offset 16, -8
.endif
.endm

/* A is back in its slot, S = rax. Afterwards base = MIRROR_BASE, rdx = A. */
.macro	PUT_BACK base, own
	movabs	$MIRROR_BASE, \base
	mov	ENTRY_ADDRESS(\base,%rax,2), %rdx
	mov	%rdx, (%rax)
	RETURNS_BY_SLOT \own
.endm

/* The same with S = 40(%rsp). Afterwards r11 = S, rcx = its mirror entry, rdx = A. */
.macro	PUT_BACK_COLD own
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %r11
	lea	(%rcx,%r11,2), %rcx
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)
	RETURNS_BY_SLOT \own
.endm

/*
 * The call at S = rax = 40(%rsp) ends at the clock edx:r10d: A is back in its slot, and the event is written. rcx =
 * record, r11 = stack. Or (its values are recorded) goes to \values, with rdx pushed.
 */
.macro	END_AT	own, full, values
	SAVE	%rdx
	PUT_BACK %rcx, \own
	mov	ENTRY_WORD(%rcx,%rax,2), %edx
	xor	$ENTRY_TO_EXIT, %edx
	js	\values
	shl	$32, %rdx
	mov	%r10d, %eax
	or	%rdx, %r10
	RESTORE	%rdx
	SELF_AGAIN
	WRITE	\full, LINES_tsc
.endm

/* END_AT at the last reading of a coarse clock, rdx not pushed; or goes to \read, with r10 = word << 32. */
.macro	END_SHARED own, read, full, values
	PUT_BACK %r10, \own
	mov	ENTRY_WORD(%r10,%rax,2), %r10d
	xor	$ENTRY_TO_EXIT, %r10d
	js	\values
	shl	$32, %r10
	WRITE_SHARED \read, \full
.endm

/*
 * 48(%rsp) = where to go on for a call that returns to A = 56(%rsp): to the call of A's entry in tramp_labels[], or
 * (there is none) to the one of the other set. Leaves no carry.
 */
.macro	OWN_LABEL clock
	mov	56(%rsp), %rax
	movabs	$LABELS_HASH, %rcx
	imul	%rax, %rcx
	shr	$LABELS_SHIFT, %rcx
	and	$(LABELS_HASHED - 1) * LABELS_ENTRY, %ecx
	lea	tramp_labels(%rip), %rdx
	add	%rdx, %rcx
	lea	LABELS_PROBES * LABELS_ENTRY(%rcx), %rdx
1:	cmp	%rax, (%rcx)
	je	2f
	add	$LABELS_ENTRY, %rcx
	cmp	%rdx, %rcx
	jne	1b
	SLOW	tramp_slow_label
	lea	tramp_call_\clock(%rip), %rcx
	test	%rax, %rax
	jz	3f
	mov	%rax, %rcx
2:	lea	LABELS_CALL(%rcx), %rcx
3:	mov	%rcx, 48(%rsp)
.endm

/*
 * Calls tramp_values_\event() of a call whose values are recorded: rdx = clock, whole, at an end. It records the event.
 * Clobbers rax, rcx and flags.
 */
.macro	VALUES	event
	lea	tramp_values_\event(%rip), %rax
	mov	%rsp, %rcx
	call	handler_call
.endm

/* \values = struct tramp_values of the function whose word is \word, as VALUES_OF; or 0. */
.macro	VALUES_AT word, values
	mov	\word, %eax
	and	$ID_MASK, %eax
	mov	tramp_values(%rip), \values
	mov	(\values,%rax,8), \values
.endm

/*
 * \values = struct tramp_values of the function whose word, with TRAMP_WORD_VALUES, is \word; so its id is one of the
 * table. Goes to \slow where it has none. Clobbers rax.
 */
.macro	VALUES_OF word, values, slow
	VALUES_AT \word, \values
	test	\values, \values
	jz	\slow
.endm

/* The end of VALUES_QUICK, with the stack as before it: from 8 to \slow, from 9 on. */
.macro	QUICK_BACK slow
8:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE	%rdi, %rsi, %r8, %r9
	jmp	\slow
	.cfi_adjust_cfa_offset 40
9:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE	%rdi, %rsi, %r8, %r9
.endm

/* In VALUES_QUICK: goes to \on if rax, found there, is the word rdx that was to be stored, and the cursor is there. */
.macro	IF_TWINS on
	cmp	%rdx, %rax
	jne	1f
	SELF_AGAIN
	cmp	%rdi, STATE_CURSOR(%rcx)
	je	\on
1:
.endm

/*
 * \at = the cursor, rdx = the \last word of an event of several words there, if there is room for it; edx = clock >>
 * 31, rcx = record, r11 = the stack that the event is on. Else goes to \none. Clobbers rax. lines: as of STORE.
 */
.macro	ROOM	at, last, none, lines
	mov	STATE_CURSOR(%rcx), \at		/* before the span, as of WRITE */
	cmp	%edx, STATE_SPAN(%rcx)
	jne	\none
	cmp	%r11, STATE_STACK(%rcx)
	jne	\none
	lea	\last, %rdx
	test	%rdx, STATE_CHUNK_BIT(%rcx)
	jz	\none
.if \lines
	movslq	STATE_AHEAD(%rcx), %rax
	prefetchw (%rdx,%rax)
.endif
.endm

/*
 * Records an event with values, whose struct tramp_quick lies at \part(%r10): the reservation, its payload, then the
 * event in its place. Each word is stored only where the chunk's token is still, or the reservation: so nothing is
 * stored to a place that was filled anew, and a handler in between passes over all of it, since the cursor moves last.
 * Where one has made events, or forked, C records the event; where it came last of all, too, if it ended the chunk:
 * then the reservation is none any more (chunk.c). If it forked then, parent and child store the same words: the later
 * one finds them there.
 *
 * rcx = record, r11 = stack, edx:eax = clock. Goes to \slow, with the stack as before. Clobbers rax, rcx, rdx, r10.
 *
 *	stack	 0 zeros   8 rdi  16 rsi  24 r8  32 r9, then the trampoline's own: 40 r11  48 r10  56 rdx  64 rcx
 *		72 rax
 *	in use	r8 struct tramp_quick, rdi where, esi clock, r9 words left, r10 token
 */
.macro	VALUES_QUICK part, slow, lines=0
	SAVE	%r9, %r8, %rsi, %rdi
	pushq	$0
	.cfi_adjust_cfa_offset 8
	lea	\part(%r10), %r8
	mov	%eax, %esi
	add	%eax, %eax			/* edx = clock >> 31, as of WRITE */
	adc	%edx, %edx
	movzbl	QUICK_WORDS(%r8), %r9d
	ROOM	%rdi, "(%rdi,%r9,8)", 8f, \lines
	mov	STATE_TOKEN(%rcx), %r10
	mov	QUICK_RESERVED(%r8), %edx
	shl	$32, %rdx
	or	%rsi, %rdx
	mov	%r10, %rax
	cmpxchg	%rdx, (%rdi)			/* no lock: as of STORE */
	jne	3f
6:	movzbl	QUICK_PIECE-1(%r8,%r9,2), %edx
	movzbl	QUICK_PIECE-2(%r8,%r9,2), %ecx
	mov	(%rsp,%rdx), %edx
	mov	(%rsp,%rcx), %ecx
	shl	$32, %rdx
	or	%rcx, %rdx
	SELF_AGAIN
	cmp	%rdi, STATE_CURSOR(%rcx)	/* as of STORE_LATE */
	jne	8f
	mov	%r10, %rax
	cmpxchg	%rdx, (%rdi,%r9,8)
	jne	4f
5:	dec	%r9d
	jnz	6b
	mov	QUICK_RESERVED(%r8), %eax
	mov	QUICK_EVENT(%r8), %edx
	shl	$32, %rax
	shl	$32, %rdx
	or	%rsi, %rax
	or	%rsi, %rdx
	cmpxchg	%rdx, (%rdi)
	jne	7f
2:	movzbl	QUICK_WORDS(%r8), %r9d
	lea	8(,%r9,8), %r9d
	SELF_AGAIN
	add	%r9, STATE_CURSOR(%rcx)		/* relative, as of STORE */
	jmp	9f
/* Each word may be there: a twin's, which may have gone on to the event. Not a handler's, which move the cursor. */
3:	IF_TWINS 6b
	mov	QUICK_EVENT(%r8), %edx
	shl	$32, %rdx
	or	%rsi, %rdx
	IF_TWINS 6b
	jmp	8f
4:	IF_TWINS 5b
	jmp	8f
7:	IF_TWINS 2b
	QUICK_BACK \slow
.endm

/*
 * Records an event with values whose payload, one word, is pushed, and taken from the stack here: r10 = the event's
 * first word, with TRACE_VALUED_LATE, edx = clock >> 31, rcx = record, r11 = the stack that it is on. The first word is
 * stored, then the payload, which makes the event whole. A handler in between passes over both, since the cursor moves
 * last: if it has, the event is recorded once more. For the handler may have filled the chunk's place anew, and where
 * the token was 0, as it is in memory that was never used, that may be a payload there now. A handler that comes last
 * of all and ends the chunk has closed the payload's word (chunk.c): then nothing is stored there.
 *
 * Goes to \done, without a carry; or, as STORE does, to \again: nothing was stored, or only what was given up; also if
 * the payload looks like a word without an event. Clobbers rax, rdx, r10.
 */
.macro	STORE_LATE done, again, lines=0
	ROOM	%rax, 8(%rax), 8f, \lines
	mov	STATE_TOKEN(%rcx), %rax
	cmp	%rax, (%rsp)
	je	8f
	cmpxchg	%r10, -8(%rdx)			/* no lock: as of STORE */
	jne	3f
2:	RESTORE	%r10
	lea	-8(%rdx), %rdx
	cmp	%rdx, STATE_CURSOR(%rcx)
	jne	\again
	cmpxchg	%r10, 8(%rdx)
	jne	4f
5:	addq	$16, STATE_CURSOR(%rcx)		/* relative, as of STORE */
	jmp	\done
/* A twin, forked by a handler, may have stored the words: as IF_TWINS. */
4:	cmp	%r10, %rax
	jne	\again
	SELF_AGAIN
	cmp	%rdx, STATE_CURSOR(%rcx)
	je	5b
	jmp	\again
	.cfi_adjust_cfa_offset 8
3:	cmp	%r10, %rax
	jne	8f
	SELF_AGAIN
	lea	-8(%rdx), %rax
	cmp	%rax, STATE_CURSOR(%rcx)
	mov	STATE_TOKEN(%rcx), %rax
	je	2b
8:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	\again
.endm

#endif
