/* SPDX-License-Identifier: MIT */
/* Trampolines of calls whose return is intercepted, and of those that are recorded at the entry only. */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * Off the fast path of enter or point, stack as there, before anything is done: what is only counted or left out jumps
 * to its body. The others' handlers are called, and it goes on; or comes out at the end, where the event is to be
 * recorded with the clock that the handlers were told: whole in r9 then, whose own value is on the stack, which is 8
 * bytes deeper.
 */
.macro	ADMIT	name, clock
	testl	$TRAMP_CHECK_COUNTED | TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.L\name\()_handled_\clock
	CHECKED	48(%rsp), .L\name\()_filtered_\clock, .Ljump_\clock
.L\name\()_filtered_\clock:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.L\name\()_handled_\clock
	lea	56(%rsp), %rax
	SLOW	tramp_filter_\name
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	cmp	$ANSWER_POINTED, %eax
	jne	.L\name\()_handled_\clock
	testl	$WANTED_ENTRY, tramp_wanted(%rip)
	jz	.Ljump_\clock
	HANDLERS_NOW \name, handler_call, \clock
	jmp	.Ljump_\clock
.L\name\()_handled_\clock:
	mov	tramp_wanted(%rip), %eax
	test	$WANTED_ENTRY, %eax
	jnz	.L\name\()_called_\clock
.ifc	\name, enter
	test	$WANTED_TAIL, %eax		/* the call that tail-jumped here ends */
	jz	.L\name\()_\clock
	IF_LABEL 56(%rsp), %rax, .L\name\()_called_\clock, \clock
.endif
	jmp	.L\name\()_\clock
.L\name\()_called_\clock:
	HANDLERS_NOW \name, handler_call, \clock
	test	%eax, %eax
	jnz	.L\name\()_\clock
	SAVE	%r9
	mov	%rdx, %r9
	SELF	.L\name\()_late_\clock
.endm

/*
 * Enters the call at S into the mirror, or goes elsewhere. deep: bytes that lie on the frame. rcx = record; afterwards
 * r11 = stack; clobbers all of the frame.
 */
.macro	OPEN	deep, slow, tail, clock
	STACK	%r11, \slow
	lea	56+\deep(%rsp), %rdx		/* S */
	mov	%rdx, %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	\slow
	mov	(%rdx), %r10			/* A */
	IF_LABEL %r10, %rax, \tail, \clock
	mov	STACK_TOP(%r11), %rax
	sub	%rdx, %rax
	jbe	\slow				/* open calls at or below S are dead */
	movabs	$MIRROR_BASE, %rcx
	lea	(%rcx,%rdx,2), %rcx		/* mirror entry of S */
	mov	%r10, ENTRY_ADDRESS(%rcx)
	shl	$29, %rax			/* distance in words, in the upper half */
	mov	48+\deep(%rsp), %r10d
	or	%r10, %rax
	mov	%rax, ENTRY_WORD(%rcx)
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

.macro	INTERCEPT clock
/*
 * Entry of a function whose return is intercepted.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address A; that is slot S
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 body  48 word  56 A (slot S)
 */
	.p2align 6
	.globl	tramp_intercept_\clock
	.hidden	tramp_intercept_\clock
	.type	tramp_intercept_\clock, @function
tramp_intercept_\clock:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%r10
	SAVE	%r11
	cmpl	$0, tramp_checks(%rip)
	jne	.Lenter_checked_\clock
.Lenter_\clock:
	SELF	.Lenter_slow_\clock
	OPEN	0, .Lenter_slow_\clock, .Ltail_\clock, \clock
.Lenter_event_\clock:
	SELF_AGAIN
	mov	48(%rsp), %r10
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lenter_full_\clock
.Lenter_go_\clock:
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	.cfi_remember_state
	lea	24(%rsp), %rsp			/* drop body, word, A; the red zone keeps the first for the call */
	/*
	 * From here to the return this frame is empty, so its CFA would equal its callee's, and libgcc takes two frames
	 * of one CFA for one. Declare CFA = rsp+1, restore rsp as CFA-1, and find the return address at the mirror
	 * entry of S = CFA-9: MIRROR_BASE + 2*(CFA-9).
	 */
	.cfi_def_cfa_offset 1
	.cfi_escape 0x16, 7, 3, 0x09, 0xff, 0x22
	.cfi_escape 0x10, 16, 14, 0x39, 0x1c, 0x31, 0x24, 0x0e, 0, 0, 0, 0, 0, 0x70, 0xff, 0xff, 0x22
	call	*-24(%rsp)
/*
 * The body returns here, with its slot popped: S = %rsp-8.
 *
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 A again (slot S)
 */
	.globl	tramp_return_\clock
	.hidden	tramp_return_\clock
tramp_return_\clock:
	lea	-8(%rsp), %rsp
	/* The usual CFA again, S+8; the return address stays in the mirror until it is back in S. */
	.cfi_def_cfa_offset 8
	.cfi_restore 7
	.cfi_escape 0x10, 16, 14, 0x38, 0x1c, 0x31, 0x24, 0x0e, 0, 0, 0, 0, 0, 0x70, 0xff, 0xff, 0x22
	SAVE	%rax
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%r10
	SAVE	%r11
.Lleave_\clock:
.ifc	\clock, tsc
	cmpl	$TRAMP_CHECK_COARSE, tramp_checks(%rip)
	je	.Lleave_coarse_\clock
.endif
	CLOCK	\clock				/* first: what follows is our time, not the function's */
	mov	%eax, %r10d
	lea	40(%rsp), %rax			/* S */
	/* a call that began in another thread may be the first to end in this one */
	SELF	.Lleave_slow_\clock
	STACK	%r11, .Lleave_slow_\clock
	cmp	%rax, STACK_TOP(%r11)
	jne	.Lleave_slow_\clock
	cmpl	$0, tramp_checks(%rip)
	jne	.Lleave_checked_\clock
.Lleave_end_\clock:
	SAVE	%rdx
	movabs	$MIRROR_BASE, %rcx
	lea	(%rcx,%rax,2), %rcx		/* mirror entry of S */
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%rax)			/* A is back in its slot */
	mov	ENTRY_WORD(%rcx), %edx
	xor	$ENTRY_TO_EXIT, %edx
	shl	$32, %rdx
	mov	%r10d, %eax
	or	%rdx, %r10
	RESTORE	%rdx
	SELF_AGAIN
	WRITE	.Lleave_full_\clock
.Lleave_top_\clock:
	/* After the event: a handler that jumps away in between leaves no call without end. */
	lea	40(%rsp), %rdx
	movabs	$MIRROR_BASE, %rcx
	mov	ENTRY_LINK(%rcx,%rdx,2), %eax
	lea	(%rdx,%rax,8), %rdx		/* the next outer call's slot */
	mov	%rdx, STACK_TOP(%r11)
.Lleave_go_\clock:
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	ret					/* predicted: the first call's prediction is still on top */

/* -- off the fast path; stack as after the pushes at the return -- */
	.cfi_adjust_cfa_offset 40
.ifc	\clock, tsc
.Lleave_coarse_\clock:
	SELF	.Lleave_slow_\clock
	CLOCK_COARSE
	mov	%eax, %r10d
	lea	40(%rsp), %rax
	STACK	%r11, .Lleave_slow_\clock
	cmp	%rax, STACK_TOP(%r11)
	je	.Lleave_end_\clock
	jmp	.Lleave_slow_\clock
.endif
.Lleave_checked_\clock:
	testl	$WANTED_EXIT, tramp_wanted(%rip)
	jz	.Lleave_filtered_\clock
	shl	$32, %rdx
	or	%r10, %rdx
	HANDLERS leave, handler_call
	test	%eax, %eax
	lea	40(%rsp), %rax
	jnz	.Lleave_anew_\clock
	cmp	%rax, STACK_TOP(%r11)		/* calls of the handler may be open that could not be recorded */
	jne	.Lleave_anew_\clock
	shr	$32, %rdx
.Lleave_filtered_\clock:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lleave_end_\clock
	SAVE	%rdx
	SLOW	tramp_filter_leave
	RESTORE	%rdx
	cmp	$ANSWER_PASS, %eax
	lea	40(%rsp), %rax
	jne	.Lleave_end_\clock
	jmp	.Lleave_off_\clock
.Lleave_anew_\clock:
	/* A handler raised events: this one comes after them. As at .Lleave, but the handlers have had their turn. */
	CLOCK	\clock
	mov	%eax, %r10d
	lea	40(%rsp), %rax
	SELF	.Lleave_anew_slow_\clock
	STACK	%r11, .Lleave_anew_slow_\clock
	cmp	%rax, STACK_TOP(%r11)
	je	.Lleave_filtered_\clock
.Lleave_anew_slow_\clock:
	lea	40(%rsp), %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lleave_anew_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lleave_off_\clock
	cmp	$ANSWER_ENDED, %eax
	je	.Lleave_off_\clock
	jmp	.Lleave_unknown_\clock
.Lleave_slow_\clock:
	lea	40(%rsp), %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lleave_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lleave_off_\clock
	cmp	$ANSWER_ENDED, %eax
	je	.Lleave_off_\clock
	/* Not known as open: record its end, leave top alone. */
	testl	$WANTED_EXIT, tramp_wanted(%rip)
	jz	.Lleave_unknown_\clock
	HANDLERS_NOW leave, handler_call, \clock
.Lleave_unknown_\clock:
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %r11
	lea	(%rcx,%r11,2), %rcx
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)
	mov	ENTRY_WORD(%rcx), %r10d
	xor	$ENTRY_TO_EXIT, %r10d
	shl	$32, %r10
	EVENT_COLD 40
	jmp	.Lleave_go_\clock
.Lleave_full_\clock:
	EVENT_SLOW 40
	jmp	.Lleave_top_\clock
.Lleave_off_\clock:
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %r11
	lea	(%rcx,%r11,2), %rcx
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)
	jmp	.Lleave_go_\clock

/* -- off the fast path; stack as after the pushes at the entry -- */
	.cfi_restore_state
	/* said anew: LLVM's assembler forgets at restore_state what it adjusts from */
	.cfi_def_cfa_offset 64
.Lenter_checked_\clock:
.ifc	\clock, tsc
	cmpl	$TRAMP_CHECK_COARSE, tramp_checks(%rip)
	je	.Lenter_coarse_\clock
.endif
	ADMIT	enter, \clock
	OPEN	8, .Lenter_late_\clock, .Lenter_late_tail_\clock, \clock
	SELF_AGAIN
	mov	56(%rsp), %r10d
	WRITE_TOLD .Lenter_full_\clock
	jmp	.Lenter_go_\clock
	.cfi_adjust_cfa_offset 8
.Lenter_late_tail_\clock:
	RESTORE	%r9
	jmp	.Ltail_\clock
	.cfi_adjust_cfa_offset 8
.Lenter_late_\clock:
	RESTORE	%r9
.Lenter_slow_\clock:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	/* No mirror to be had: an entry alone. */
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_cold_\clock
.Lenter_full_\clock:
	EVENT_SLOW 56
	clc					/* WRITE leaves no carry; see "out" of tramp_pieces.h */
	jmp	.Lenter_go_\clock
.ifc	\clock, tsc
.Lenter_coarse_\clock:
	SELF	.Lenter_slow_\clock
	OPEN	0, .Lenter_slow_\clock, .Ltail_\clock, \clock
	SELF_AGAIN
	mov	48(%rsp), %r10
	shl	$32, %r10
	CLOCK_COARSE
	or	%rax, %r10
	WRITE	.Lenter_full_\clock
	jmp	.Lenter_go_\clock
.endif

/*
 * S holds our own return label: the function whose open call lies there tail-jumped to this one. Its A is safe in the
 * mirror; its call ends, this one takes its place, and the body is jumped to.
 */
.Ltail_\clock:
	cmp	%rdx, STACK_TOP(%r11)
	jne	.Ltail_slow_\clock
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jnz	.Ltail_filtered_\clock
.Ltail_kept_\clock:
	movabs	$MIRROR_BASE, %rax
	mov	ENTRY_WORD(%rax,%rdx,2), %r10d
	xor	$ENTRY_TO_TAIL, %r10d
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ltail_full_\clock
.Ltail_over_\clock:
	/* After the event: a jump in between ends a call that is over, not one that is not there yet. */
	lea	56(%rsp), %rdx
	movabs	$MIRROR_BASE, %rcx
	mov	48(%rsp), %eax
	mov	%eax, ENTRY_WORD(%rcx,%rdx,2)
	jmp	.Ljump_event_\clock
.Ltail_filtered_\clock:
	mov	%rdx, %rax
	SLOW	tramp_filter_tail
	lea	56(%rsp), %rdx
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_event_\clock
	SELF_AGAIN
	jmp	.Ltail_kept_\clock
.Ltail_slow_\clock:
	mov	%rdx, %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_\clock
	/*
	 * The call at S is not known as open: no more than an entry can be said of this one; the return goes the old
	 * way.
	 */
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_cold_\clock
.Ltail_full_\clock:
	EVENT_SLOW 56
	jmp	.Ltail_over_\clock

/* Record the word in the frame, r11 = stack, then jump to the body: slot S stays as it is. */
.Ljump_event_\clock:
	SELF_AGAIN
	mov	48(%rsp), %r10
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ljump_full_\clock
.Ljump_\clock:
	clc					/* handlers and C may leave a carry */
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_adjust_cfa_offset 56
.Ljump_cold_\clock:
	mov	48(%rsp), %r10
	shl	$32, %r10
	EVENT_COLD 56
	jmp	.Ljump_\clock
.Ljump_full_\clock:
	EVENT_SLOW 56
	jmp	.Ljump_\clock

/*
 * Entry of a function whose return must not be intercepted. Stack as tramp_intercept's.
 */
	.globl	tramp_point_\clock
	.hidden	tramp_point_\clock
tramp_point_\clock:
	.cfi_adjust_cfa_offset -40
	SAVE	%rax
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%r10
	SAVE	%r11
	cmpl	$0, tramp_checks(%rip)
	jne	.Lpoint_checked_\clock
.Lpoint_\clock:
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	SELF	.Lpoint_slow_\clock
	POINT	0, .Lpoint_slow_\clock
	jmp	.Ljump_event_\clock
.Lpoint_slow_\clock:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	cmp	$ANSWER_AGAIN, %eax
	jne	.Ljump_cold_\clock
	/*
	 * Its stack is the thread's now, or was. Of the calls that are open there, the one that tail-jumped here stays.
	 */
	SELF	.Ljump_cold_\clock
	STACK	%r11, .Ljump_cold_\clock
	lea	56(%rsp), %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	.Ljump_cold_\clock
	jmp	.Ljump_event_\clock
.Lpoint_checked_\clock:
.ifc	\clock, tsc
	cmpl	$TRAMP_CHECK_COARSE, tramp_checks(%rip)
	jne	.Lpoint_fine_\clock
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	SELF	.Lpoint_slow_\clock
	POINT	0, .Lpoint_slow_\clock
	mov	48(%rsp), %r10
	shl	$32, %r10
	SELF_AGAIN
	CLOCK_COARSE
	or	%rax, %r10
	WRITE	.Ljump_full_\clock
	jmp	.Ljump_\clock
.Lpoint_fine_\clock:
.endif
	ADMIT	point, \clock
	POINT	8, .Lpoint_late_\clock
	xorl	$ENTRY_TO_POINT, 56(%rsp)
	SELF_AGAIN
	mov	56(%rsp), %r10d
	WRITE_TOLD .Ljump_full_\clock
	jmp	.Ljump_\clock
	.cfi_adjust_cfa_offset 8
.Lpoint_late_\clock:
	RESTORE	%r9
	jmp	.Lpoint_\clock
	.cfi_endproc
	.size	tramp_intercept_\clock, . - tramp_intercept_\clock
.endm

	INTERCEPT tsc
	INTERCEPT mono

	.section .note.GNU-stack, "", @progbits
