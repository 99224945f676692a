/* SPDX-License-Identifier: MIT */
/* Trampolines of calls whose return is intercepted, and of those that are recorded at the entry only. */
#include "x86_64/tramp_calls.h"
#include "x86_64/tramp_text.h"

	.text

.macro	INTERCEPT set, clock, own
/*
 * Entry of a function whose return is intercepted.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address A; that is slot S
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 body  48 word  56 A (slot S)
 */
	.p2align 6
	.globl	tramp_intercept_\set
	.hidden	tramp_intercept_\set
	.type	tramp_intercept_\set, @function
tramp_intercept_\set:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax, %rcx, %rdx, %r10, %r11
	cmpl	$0, tramp_checks(%rip)
	jne	.Lenter_checked_\set
.ifnc	\clock, coarse
.Lenter_alone_\set:
.endif
	SELF	.Lenter_slow_\set
	OPEN	0, .Lenter_slow_\set, .Ltail_\set, \set
	mov	48(%rsp), %r10
	shl	$32, %r10
	js	.Lenter_values_\set
.ifc	\clock, coarse
	WRITE_SHARED .Lenter_read_\set, .Lenter_full_\set
.else
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lenter_full_\set
.endif
.Lenter_go_\set:
.if \own
	OWN_LABEL \clock
.endif
	RESTORE	%r11, %r10, %rdx, %rcx, %rax
	.cfi_remember_state
	lea	24(%rsp), %rsp			/* drop body, word, A; the red zone keeps what is read of them */
.if \own
	/* To the call of the label's entry, which calls the body as below, or to the one below. */
	.cfi_def_cfa_offset 0
	jmp	*-16(%rsp)
.else
	/*
	 * From here to the return this frame is empty, so its CFA would equal its callee's, and libgcc takes two frames
	 * of one CFA for one. Declare CFA = rsp+1, restore rsp as CFA-1, and find the return address at the mirror
	 * entry of S = CFA-9: MIRROR_BASE + 2*(CFA-9).
	 */
	.cfi_def_cfa_offset 1
	.cfi_escape 0x16, 7, 3, 0x09, 0xff, 0x22
	RETURNS_BY_MIRROR 9
	.globl	tramp_call_\set
	.hidden	tramp_call_\set
tramp_call_\set:
	call	*-24(%rsp)
.endif
/*
 * The body returns here, with its slot popped: S = %rsp-8.
 *
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 A again (slot S)
 */
	.globl	tramp_return_\set
	.hidden	tramp_return_\set
tramp_return_\set:
.if \own
	RETURNS_BY_LABEL
.endif
	lea	-8(%rsp), %rsp
	/* The usual CFA again, S+8; the return address stays in the mirror until it is back in S. */
	.cfi_def_cfa_offset 8
.if !\own
	.cfi_restore 7
	RETURNS_BY_MIRROR 8
.endif
	SAVE	%rax, %rcx, %rdx, %r10, %r11
.Lleave_\set:
.ifc	\clock, coarse
	/* a call that began in another thread may be the first to end in this one */
	SELF	.Lleave_slow_\set
	lea	40(%rsp), %rax			/* S */
	STACK	%r11, .Lleave_slow_\set
	cmp	%rax, STACK_TOP(%r11)
	jne	.Lleave_slow_\set
	cmpl	$0, tramp_checks(%rip)
	jne	.Lleave_checked_\set
	END_SHARED \own, .Lleave_read_\set, .Lleave_full_\set, .Lleave_values_read_\set
.else
	CLOCK	\clock				/* first: what follows is our time, not the function's */
	mov	%eax, %r10d
	lea	40(%rsp), %rax			/* S */
	SELF	.Lleave_slow_\set		/* as above */
	STACK	%r11, .Lleave_slow_\set
	cmp	%rax, STACK_TOP(%r11)
	jne	.Lleave_slow_\set
	cmpl	$0, tramp_checks(%rip)
	jne	.Lleave_checked_\set
.Lleave_end_\set:
	END_AT	\own, .Lleave_full_\set, .Lleave_values_\set
.endif
.Lleave_top_\set:
	/* After the event: a handler that jumps away in between leaves no call without end. */
	lea	40(%rsp), %rdx
	movabs	$MIRROR_BASE, %rcx
	mov	ENTRY_LINK(%rcx,%rdx,2), %eax
	lea	(%rdx,%rax,8), %rdx		/* the next outer call's slot */
	mov	%rdx, STACK_TOP(%r11)
.Lleave_go_\set:
	RESTORE	%r11, %r10, %rdx, %rcx, %rax
	ret					/* predicted: the first call's prediction is still on top */

/* -- off the fast path; stack as after the pushes at the return -- */
	.cfi_adjust_cfa_offset 40
.if \own
	RETURNS_BY_LABEL
.endif
.Lleave_checked_\set:
.ifc	\clock, coarse
	CLOCK	coarse
	mov	%eax, %r10d
	lea	40(%rsp), %rax
.endif
	testl	$WANTED_EXIT, tramp_wanted(%rip)
	jz	.Lleave_filtered_\set
	shl	$32, %rdx
	or	%r10, %rdx
	HANDLERS leave, handler_call
	test	%eax, %eax
	lea	40(%rsp), %rax
	jnz	.Lleave_anew_\set
	cmp	%rax, STACK_TOP(%r11)		/* calls of the handler may be open that could not be recorded */
	jne	.Lleave_anew_\set
	shr	$32, %rdx
.Lleave_filtered_\set:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lleave_end_\set
	SAVE	%rdx
	SLOW	tramp_filter_leave
	RESTORE	%rdx
	cmp	$ANSWER_PASS, %eax
	lea	40(%rsp), %rax
	jne	.Lleave_end_\set
	jmp	.Lleave_off_\set
.Lleave_anew_\set:
	/* A handler raised events: this one comes after them. As at .Lleave, but the handlers have had their turn. */
	CLOCK_APART \clock
	mov	%eax, %r10d
	lea	40(%rsp), %rax
	SELF	.Lleave_anew_slow_\set
	STACK	%r11, .Lleave_anew_slow_\set
	cmp	%rax, STACK_TOP(%r11)
	je	.Lleave_filtered_\set
.Lleave_anew_slow_\set:
	lea	40(%rsp), %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lleave_anew_\set
	cmp	$ANSWER_PASS, %eax
	je	.Lleave_off_\set
	cmp	$ANSWER_ENDED, %eax
	je	.Lleave_off_\set
	jmp	.Lleave_unknown_\set
.Lleave_slow_\set:
	lea	40(%rsp), %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lleave_\set
	cmp	$ANSWER_PASS, %eax
	je	.Lleave_off_\set
	cmp	$ANSWER_ENDED, %eax
	je	.Lleave_off_\set
	/* Not known as open: record its end, leave top alone. */
	testl	$WANTED_EXIT, tramp_wanted(%rip)
	jz	.Lleave_unknown_\set
	HANDLERS_NOW leave, handler_call, \clock
.Lleave_unknown_\set:
	PUT_BACK_COLD \own
	mov	ENTRY_WORD(%rcx), %r10d
	xor	$ENTRY_TO_EXIT, %r10d
	js	.Lleave_values_unknown_\set
	shl	$32, %r10
	EVENT_COLD 40
	jmp	.Lleave_go_\set
.Lleave_values_unknown_\set:
	CLOCK_APART \clock
	shl	$32, %rdx
	or	%rax, %rdx
	VALUES	leave
	jmp	.Lleave_go_\set
.Lleave_full_\set:
	EVENT_SLOW 40
	jmp	.Lleave_top_\set
.ifc	\clock, coarse
.Lleave_values_read_\set:
	CLOCK	\clock
	mov	%r10d, %ecx
	mov	%eax, %r10d
	jmp	.Lleave_values_at_\set
.endif
	.cfi_adjust_cfa_offset 8
	.p2align 6				/* measured */
.Lleave_values_\set:
	mov	%edx, %ecx
	RESTORE	%rdx
.ifc	\clock, coarse
.Lleave_values_at_\set:
.endif
	/* ecx = the call's word, as that of an end; edx:r10 = clock, its lower half; r11 = stack */
	test	$TRAMP_WORD_SILENT, %ecx
	jnz	.Lleave_values_whole_\set
	VALUES_OF %ecx, %rcx, .Lleave_values_whole_\set
	mov	QUICK_END+QUICK_LATE(%rcx), %rax
	test	%rax, %rax
	jz	.Lleave_values_not_late_\set
	or	%rax, %r10
	bt	$31, %r10			/* edx = clock >> 31, as of WRITE */
	adc	%edx, %edx
	mov	32(%rsp), %rax
	and	QUICK_END+QUICK_FIRST(%rcx), %rax
	SAVE	%rax
	SELF_AGAIN
	STORE_LATE .Lleave_top_\set, .Lleave_values_again_\set, LINES_tsc
.Lleave_values_again_\set:
	SELF	.Lleave_values_late_\set
	CLOCK	\clock
	shl	$32, %rdx
	or	%rax, %rdx
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %rax
	mov	ENTRY_WORD(%rcx,%rax,2), %ecx
	VALUES_OF %ecx, %r10, .Lleave_values_slow_\set
	jmp	.Lleave_values_many_\set
.Lleave_values_not_late_\set:
	shl	$32, %rdx
	or	%r10, %rdx
	mov	%rcx, %r10
.Lleave_values_many_\set:
	cmpl	$0, QUICK_END+QUICK_EVENT(%r10)
	je	.Lleave_values_slow_\set
	SELF	.Lleave_values_slow_\set
	mov	%edx, %eax
	shr	$32, %rdx
	VALUES_QUICK QUICK_END, .Lleave_values_late_\set, LINES_tsc
	jmp	.Lleave_top_\set
.Lleave_values_whole_\set:
	shl	$32, %rdx
	or	%r10, %rdx
	jmp	.Lleave_values_slow_\set
.Lleave_values_late_\set:
	CLOCK_APART \clock
	shl	$32, %rdx
	or	%rax, %rdx
.Lleave_values_slow_\set:
	VALUES	leave
	jmp	.Lleave_top_\set
.Lleave_off_\set:
.if \own
	RETURNS_BY_LABEL
.endif
	PUT_BACK_COLD \own
	jmp	.Lleave_go_\set
.ifc	\clock, coarse
.if \own
	RETURNS_BY_LABEL
.endif
.Lleave_end_\set:
	END_AT	\own, .Lleave_full_\set, .Lleave_values_\set
	jmp	.Lleave_top_\set
.Lleave_read_\set:
	CLOCK	coarse
	or	%rax, %r10
	WRITE	.Lleave_full_\set, LINES_\clock
	jmp	.Lleave_top_\set
.endif

/* -- off the fast path; stack as after the pushes at the entry -- */
	.cfi_restore_state
	/* said anew: LLVM's assembler forgets at restore_state what it adjusts from */
	.cfi_def_cfa_offset 64
.Lenter_checked_\set:
	ADMIT	enter, \set, \clock
	OPEN	8, .Lenter_late_\set, .Lenter_late_tail_\set, \set
	mov	56(%rsp), %r10d
	test	%r10d, %r10d
	js	.Lenter_values_told_\set
	WRITE_TOLD .Lenter_full_\set
	jmp	.Lenter_go_\set
	.cfi_adjust_cfa_offset 8
.Lenter_values_told_\set:
	RESTORE	%r9
	.p2align 6				/* measured */
.Lenter_values_\set:
	VALUES_OF 48(%rsp), %r10, .Lenter_values_slow_\set
	cmpq	$0, QUICK_ENTRY+QUICK_LATE(%r10)
	je	.Lenter_values_many_\set
	mov	%rsi, %rax
	shl	$32, %rax
	and	QUICK_ENTRY+QUICK_NEXT(%r10), %rax
	mov	%rdi, %rdx
	and	QUICK_ENTRY+QUICK_FIRST(%r10), %rdx
	or	%rdx, %rax
	SAVE	%rax
	mov	QUICK_ENTRY+QUICK_LATE(%r10), %r10
	CLOCK	\clock
	or	%rax, %r10
	add	%eax, %eax			/* edx = clock >> 31, as of WRITE */
	adc	%edx, %edx
	STORE_LATE .Lenter_go_\set, .Lenter_values_again_\set
.Lenter_values_again_\set:
	VALUES_OF 48(%rsp), %r10, .Lenter_values_slow_\set
.Lenter_values_many_\set:
	cmpl	$0, QUICK_ENTRY+QUICK_EVENT(%r10)
	je	.Lenter_values_slow_\set
	cmpb	$0, QUICK_ENTRY+QUICK_WORDS(%r10)
	je	.Lenter_values_none_\set
	SELF	.Lenter_values_slow_\set
	cmpb	$0, QUICK_ENTRY+QUICK_PLAIN(%r10)
	je	1f
	lea	56(%rsp), %rdx
	movabs	$MIRROR_BASE, %rax
	andl	$~TRAMP_WORD_VALUES, ENTRY_WORD(%rax,%rdx,2)
1:	cmpq	$0, QUICK_ENTRY+QUICK_TEXT(%r10)
	jne	.Lenter_values_text_\set
	CLOCK	\clock
	VALUES_QUICK QUICK_ENTRY, .Lenter_values_slow_\set
	clc					/* as behind .Lenter_full */
	jmp	.Lenter_go_\set
	.p2align 6				/* measured */
.Lenter_values_text_\set:
	VALUES_TEXT \clock, .Lenter_go_\set, .Lenter_values_slow_\set
.Lenter_values_none_\set:
	SELF	.Lenter_values_slow_\set
	mov	48(%rsp), %r10d
	and	$~TRAMP_WORD_VALUES, %r10d
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lenter_full_\set
	jmp	.Lenter_go_\set
.Lenter_values_slow_\set:
	VALUES	enter
	clc					/* as behind .Lenter_full */
	jmp	.Lenter_go_\set
	.cfi_adjust_cfa_offset 8
.Lenter_late_tail_\set:
	RESTORE	%r9
	jmp	.Ltail_\set
	.cfi_adjust_cfa_offset 8
.Lenter_late_\set:
	RESTORE	%r9
.Lenter_slow_\set:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_alone_\set
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\set
	/* There is no mirror: an entry-only event. */
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_cold_\set
.Lenter_full_\set:
	EVENT_SLOW 56
	clc					/* WRITE leaves no carry; see "out" of tramp_pieces.h */
	jmp	.Lenter_go_\set
.ifc	\clock, coarse
.Lenter_alone_\set:
	SELF	.Lenter_slow_\set
	OPEN	0, .Lenter_slow_\set, .Ltail_\set, \set
	mov	48(%rsp), %r10
	shl	$32, %r10
	js	.Lenter_values_\set
.Lenter_read_\set:
	CLOCK	coarse
	or	%rax, %r10
	WRITE	.Lenter_full_\set, LINES_\clock
	jmp	.Lenter_go_\set
.endif

/*
 * S holds our own return label: the function whose open call lies there tail-jumped to this one. Its A is safe in the
 * mirror; its call ends, this one takes its place, and the body is jumped to.
 */
.Ltail_\set:
	cmp	%rdx, STACK_TOP(%r11)
	jne	.Ltail_slow_\set
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jnz	.Ltail_filtered_\set
.Ltail_kept_\set:
	movabs	$MIRROR_BASE, %rax
	mov	ENTRY_WORD(%rax,%rdx,2), %r10d
	xor	$ENTRY_TO_TAIL, %r10d
	js	.Ltail_values_\set
.Ltail_word_\set:
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ltail_full_\set
.Ltail_over_\set:
	/* After the event: a jump in between ends a call that is over, not one that is not there yet. */
	lea	56(%rsp), %rdx
	movabs	$MIRROR_BASE, %r10
	mov	48(%rsp), %eax
	mov	%eax, ENTRY_WORD(%r10,%rdx,2)
	jmp	.Ljump_event_\set
.Ltail_filtered_\set:
	mov	%rdx, %rax
	SLOW	tramp_filter_tail
	lea	56(%rsp), %rdx
	SELF_AGAIN
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_event_\set
	jmp	.Ltail_kept_\set
.Ltail_slow_\set:
	mov	%rdx, %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_alone_\set
	/*
	 * The call at S is not known as open: no more than an entry can be said of this one; the return goes the old
	 * way.
	 */
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\set
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_cold_\set
.Ltail_full_\set:
	EVENT_SLOW 56
	SELF_AGAIN
	jmp	.Ltail_over_\set
.Ltail_values_\set:
	test	$TRAMP_WORD_SILENT, %r10d
	jnz	.Ltail_over_\set
	and	$~TRAMP_WORD_VALUES, %r10d
	jmp	.Ltail_word_\set

/* Record the word in the frame, rcx = record, r11 = stack, then jump to the body: slot S stays as it is. */
.Ljump_event_\set:
	mov	48(%rsp), %r10
	shl	$32, %r10
	js	.Ljump_values_\set
.Ljump_read_\set:
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ljump_full_\set, LINES_\clock
.Ljump_\set:
	clc					/* handlers and C may leave a carry */
	RESTORE	%r11, %r10, %rdx, %rcx, %rax
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_adjust_cfa_offset 56
.Ljump_cold_\set:
	mov	48(%rsp), %r10
	and	$~TRAMP_WORD_VALUES, %r10d	/* without values */
	shl	$32, %r10
	EVENT_COLD 56
	jmp	.Ljump_\set
.Ljump_full_\set:
	EVENT_SLOW 56
	jmp	.Ljump_\set
.Ljump_values_\set:
	VALUES	enter
	jmp	.Ljump_\set

.if !\own
/*
 * Entry of a function whose return must not be intercepted. Stack as tramp_intercept's.
 */
	.globl	tramp_point_\set
	.hidden	tramp_point_\set
tramp_point_\set:
	.cfi_adjust_cfa_offset -40
	SAVE	%rax, %rcx, %rdx, %r10, %r11
	cmpl	$0, tramp_checks(%rip)
	jne	.Lpoint_checked_\set
.ifnc	\clock, coarse
.Lpoint_alone_\set:
.endif
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	SELF	.Lpoint_slow_\set
	POINT	0, .Lpoint_slow_\set
.ifc	\clock, coarse
	mov	48(%rsp), %r10
	shl	$32, %r10
	js	.Ljump_values_\set
	WRITE_SHARED .Ljump_read_\set, .Ljump_full_\set
	jmp	.Ljump_\set
.Lpoint_alone_\set:
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	SELF	.Lpoint_slow_\set
	POINT	0, .Lpoint_slow_\set
.endif
	jmp	.Ljump_event_\set
.Lpoint_slow_\set:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\set
	cmp	$ANSWER_AGAIN, %eax
	jne	.Ljump_cold_\set
	/*
	 * Its stack is the thread's now, or was. Of the calls that are open there, the one that tail-jumped here stays.
	 */
	SELF	.Ljump_cold_\set
	STACK	%r11, .Ljump_cold_\set
	lea	56(%rsp), %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	.Ljump_cold_\set
	jmp	.Ljump_event_\set
.Lpoint_checked_\set:
	ADMIT	point, \set, \clock
	POINT	8, .Lpoint_late_\set
	xorl	$ENTRY_TO_POINT, 56(%rsp)
	SELF_AGAIN
	mov	56(%rsp), %r10d
	test	%r10d, %r10d
	js	.Lpoint_values_told_\set
	WRITE_TOLD .Ljump_full_\set
	jmp	.Ljump_\set
	.cfi_adjust_cfa_offset 8
.Lpoint_values_told_\set:
	RESTORE	%r9
	jmp	.Ljump_values_\set
	.cfi_adjust_cfa_offset 8
.Lpoint_late_\set:
	RESTORE	%r9
	jmp	.Lpoint_alone_\set
.endif
	.cfi_endproc
	.size	tramp_intercept_\set, . - tramp_intercept_\set
.endm

	INTERCEPT tsc, tsc, 0
	INTERCEPT mono, mono, 0
	INTERCEPT coarse, coarse, 0
	INTERCEPT own_tsc, tsc, 1
	INTERCEPT own_mono, mono, 1
	INTERCEPT own_coarse, coarse, 1

	.section .note.GNU-stack, "", @progbits
