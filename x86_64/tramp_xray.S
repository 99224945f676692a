/* SPDX-License-Identifier: MIT */
/* Trampolines of XRay sleds. */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * Enters the call into the mirror of X = \x(%rsp), or goes elsewhere. r10d = word, rcx = record; afterwards r11 =
 * stack. Clobbers rax, rcx, rdx.
 */
.macro	OPEN	x, keep, same, slow
	STACK	%r11, \slow
	lea	\x(%rsp), %rdx			/* X */
	mov	%rdx, %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	\slow
	mov	STACK_TOP(%r11), %rax
	sub	%rdx, %rax
	jbe	\slow
	cmp	$8, %rax
	je	\same
\keep:
	movabs	$MIRROR_BASE, %rcx
	shl	$29, %rax
	or	%r10, %rax			/* upper half of r10 is zero: the stub's lea cleared it */
	mov	%rax, ENTRY_WORD(%rcx,%rdx,2)
	mov	8(%rdx), %rax
	mov	%rax, ENTRY_ADDRESS(%rcx,%rdx,2)
	mov	%rdx, STACK_TOP(%r11)
.endm

/* Calls tramp_values_xray_\event(): rdx = clock, whole, at an end; r10 = the word, at an entry. As VALUES. */
.macro	VALUES_XRAY event
	lea	tramp_values_xray_\event(%rip), %rax
	mov	%rsp, %rcx
	call	handler_call_xray
.endm

.macro	XRAY_ENTRY clock
/*
 * Entry sled: r10d = word. The sled called the stub.
 *
 *	stack	 0 r11   8 rdx  16 rcx  24 rax  32 return to the sled (word X, below slot S)  40 A
 *
 * The open call is kept in the mirror of X: mirror(S) may be in use by an intercepted call with the same slot. No
 * ABI-conforming call has its slot at X, since calls have their slots at 8 modulo 16; other code would only lose this
 * entry's end.
 *
 * Unwinders go from here to the function's caller: the function has done nothing yet, and its own exception tables know
 * no place in the sled, which would end the program when a handler throws. Tail sleds are treated alike.
 */
	.p2align 6
	.globl	tramp_xray_entry_\clock
	.hidden	tramp_xray_entry_\clock
	.type	tramp_xray_entry_\clock, @function
tramp_xray_entry_\clock:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	SAVE	%rax, %rcx, %rdx, %r11
	cmpl	$0, tramp_checks(%rip)
	jne	.Lxenter_checked_\clock
.ifnc	\clock, coarse
.Lxenter_alone_\clock:
.endif
	SELF	.Lxenter_slow_\clock
	OPEN	32, .Lxenter_keep_\clock, .Lxenter_same_\clock, .Lxenter_slow_\clock
	SELF_AGAIN
	shl	$32, %r10
	js	.Lxenter_values_\clock
.ifc	\clock, coarse
	WRITE_SHARED .Lxenter_read_\clock, .Lxenter_full_\clock
.else
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lxenter_full_\clock
.endif
.Lxenter_go_\clock:
	RESTORE	%r11, %rdx, %rcx, %rax
	ret
	.cfi_adjust_cfa_offset 32
.Lxenter_checked_\clock:
	testl	$TRAMP_CHECK_VALUES, tramp_checks(%rip)
	jz	.Lxenter_plain_\clock
	mov	%r10d, %eax
	TABLE_ID
	ja	.Lxenter_plain_\clock
	lea	tramp_table(%rip), %rcx
	testb	$TRAMP_HAS_VALUES, (%rcx,%rax)
	jz	.Lxenter_plain_\clock
	or	$TRAMP_WORD_VALUES, %r10d
.Lxenter_plain_\clock:
	testl	$TRAMP_CHECK_COUNTED | TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lxenter_handled_\clock
	CHECKED	%r10d, .Lxenter_filtered_\clock, .Lxenter_go_\clock
.Lxenter_filtered_\clock:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lxenter_handled_\clock
	SAVE	%r10
	mov	%rsp, %rax			/* 40 bytes below X */
	SLOW	tramp_filter_enter_xray
	RESTORE	%r10
	cmp	$ANSWER_PASS, %eax
	je	.Lxenter_go_\clock
.Lxenter_handled_\clock:
	testl	$WANTED_ENTRY, tramp_wanted(%rip)
	jz	.Lxenter_alone_\clock
	HANDLERS_NOW xray_enter, handler_call_xray, \clock
	test	%eax, %eax
	jnz	.Lxenter_alone_\clock
	/* The event is to be recorded with the clock that the handlers were told; the stack is 8 bytes deeper here. */
	SAVE	%r9
	mov	%rdx, %r9
	SELF	.Lxenter_late_\clock
	OPEN	40, .Lxenter_soon_keep_\clock, .Lxenter_soon_same_\clock, .Lxenter_late_\clock
	SELF_AGAIN
	test	%r10d, %r10d
	js	.Lxenter_values_told_\clock
	WRITE_TOLD .Lxenter_full_\clock
	jmp	.Lxenter_go_\clock
	.cfi_adjust_cfa_offset 8
.Lxenter_soon_same_\clock:
	IF_LABEL 8(%rdx), %rcx, .Lxenter_soon_keep_\clock, all
.Lxenter_late_\clock:
	RESTORE	%r9
	jmp	.Lxenter_alone_\clock
.Lxenter_same_\clock:
	/* An intercepted call has this very frame's slot. Alive, if our label is still there; else it was left. */
	IF_LABEL 8(%rdx), %rcx, .Lxenter_keep_\clock, all
.Lxenter_slow_\clock:
	lea	32(%rsp), %rax
	SLOW	tramp_slow_enter_xray
	cmp	$ANSWER_AGAIN, %eax
	je	.Lxenter_alone_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lxenter_go_\clock
	and	$~TRAMP_WORD_VALUES, %r10d	/* without values */
	shl	$32, %r10
	EVENT_COLD 32
	jmp	.Lxenter_go_\clock
.Lxenter_full_\clock:
	EVENT_SLOW 32
	jmp	.Lxenter_go_\clock
	.cfi_adjust_cfa_offset 8
.Lxenter_values_told_\clock:
	RESTORE	%r9
	shl	$32, %r10
.Lxenter_values_\clock:
	shr	$32, %r10
	VALUES_XRAY enter
	jmp	.Lxenter_go_\clock
.ifc	\clock, coarse
.Lxenter_alone_\clock:
	SELF	.Lxenter_slow_\clock
	OPEN	32, .Lxenter_alone_keep_\clock, .Lxenter_alone_same_\clock, .Lxenter_slow_\clock
	SELF_AGAIN
	shl	$32, %r10
	js	.Lxenter_values_\clock
.Lxenter_read_\clock:
	CLOCK	coarse
	or	%rax, %r10
	WRITE	.Lxenter_full_\clock, LINES_\clock
	jmp	.Lxenter_go_\clock
.Lxenter_alone_same_\clock:
	IF_LABEL 8(%rdx), %rcx, .Lxenter_alone_keep_\clock, all
	jmp	.Lxenter_slow_\clock
.endif
	.cfi_endproc
	.size	tramp_xray_entry_\clock, . - tramp_xray_entry_\clock
.endm

/*
 * Exit and tail sleds: r10d = word. The exit sled jumped to its stub (slot S = %rsp), the tail sled called it (S =
 * %rsp+8).
 *
 *	stack	 0 r11   8 rdx  16 rcx  24 rax  32 slot S (exit), or the return to the sled at X and S after it (tail)
 */
.macro	XRAY_LEAVE name, x, wanted, clock
	.p2align 6
	.globl	tramp_xray_\name\()_\clock
	.hidden	tramp_xray_\name\()_\clock
	.type	tramp_xray_\name\()_\clock, @function
tramp_xray_\name\()_\clock:
	.cfi_startproc
	.cfi_def_cfa_offset \x - 16
	SAVE	%rax, %rcx, %rdx, %r11
	shl	$32, %r10
.Lx\name\()_\clock:
.ifnc	\clock, coarse
	CLOCK	\clock
	mov	%eax, %r11d
	or	%r11, %r10
.endif
	SELF	.Lx\name\()_slow_\clock
	STACK	%r11, .Lx\name\()_slow_\clock
	lea	\x(%rsp), %rax			/* X */
	cmp	%rax, STACK_TOP(%r11)
	jne	.Lx\name\()_slow_\clock
	cmpl	$0, tramp_checks(%rip)
	jne	.Lx\name\()_checked_\clock
.ifc	\clock, coarse
	WRITE_SHARED .Lx\name\()_read_\clock, .Lx\name\()_full_\clock
.else
.Lx\name\()_end_\clock:
	mov	%r10d, %eax
	WRITE	.Lx\name\()_full_\clock, LINES_\clock
.endif
.Lx\name\()_top_\clock:
	lea	\x(%rsp), %rdx
	movabs	$MIRROR_BASE, %rcx
	mov	ENTRY_LINK(%rcx,%rdx,2), %eax
	/* A sled that is switched on in the middle of a later call here must not take the entry for that call's. */
	movq	$0, ENTRY_ADDRESS(%rcx,%rdx,2)
	lea	(%rdx,%rax,8), %rdx
	mov	%rdx, STACK_TOP(%r11)
.Lx\name\()_go_\clock:
	RESTORE	%r11, %rdx, %rcx, %rax
	ret
	.cfi_adjust_cfa_offset 32
.ifc	\clock, coarse
.Lx\name\()_read_\clock:
	CLOCK	coarse
	or	%rax, %r10
.Lx\name\()_end_\clock:
	mov	%r10d, %eax
	WRITE	.Lx\name\()_full_\clock, LINES_\clock
	jmp	.Lx\name\()_top_\clock
.endif
.Lx\name\()_checked_\clock:
.ifc	\clock, coarse
	CLOCK	coarse
	or	%rax, %r10
	lea	\x(%rsp), %rax
.endif
	testl	$\wanted, tramp_wanted(%rip)
	jz	.Lx\name\()_passed_\clock
	shl	$32, %rdx
	mov	%r10d, %eax
	or	%rax, %rdx
	HANDLERS xray_\name, handler_call_xray
	test	%eax, %eax
	jnz	.Lx\name\()_anew_\clock
	lea	\x(%rsp), %rax
	cmp	%rax, STACK_TOP(%r11)		/* calls of the handler may be open that could not be recorded */
	jne	.Lx\name\()_anew_\clock
	shr	$32, %rdx
	SELF_AGAIN
	lea	\x(%rsp), %rax
.Lx\name\()_passed_\clock:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lx\name\()_admitted_\clock
	SAVE	%rdx
.ifc	\name, tail
	SLOW	tramp_filter_tail_xray
.else
	SLOW	tramp_filter_leave
.endif
	RESTORE	%rdx
	cmp	$ANSWER_PASS, %eax
	je	.Lx\name\()_go_\clock
.Lx\name\()_admitted_\clock:
	lea	\x(%rsp), %rax
	movabs	$MIRROR_BASE, %rcx
	mov	ENTRY_WORD(%rcx,%rax,2), %eax
	SELF_AGAIN
	test	%eax, %eax
	jns	.Lx\name\()_end_\clock
	test	$TRAMP_WORD_SILENT, %eax
	jnz	.Lx\name\()_top_\clock
.ifc	\name, exit
	shl	$32, %rdx
	mov	%r10d, %eax
	or	%rax, %rdx
	VALUES_XRAY exit
	jmp	.Lx\name\()_top_\clock
.else
	jmp	.Lx\name\()_end_\clock
.endif
.Lx\name\()_anew_\clock:
	/* A handler raised events: this one comes after them. As at .Lx, but the handlers have had their turn. */
	shr	$32, %r10
	shl	$32, %r10
	CLOCK_APART \clock
	mov	%eax, %r11d
	or	%r11, %r10
	SELF	.Lx\name\()_anew_slow_\clock
	STACK	%r11, .Lx\name\()_anew_slow_\clock
	lea	\x(%rsp), %rax
	cmp	%rax, STACK_TOP(%r11)
	je	.Lx\name\()_passed_\clock
.Lx\name\()_anew_slow_\clock:
	lea	\x(%rsp), %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lx\name\()_anew_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lx\name\()_go_\clock
	shr	$32, %r10
	shl	$32, %r10
	jmp	.Lx\name\()_unknown_\clock
.Lx\name\()_slow_\clock:
	cmpl	$0, tramp_checks(%rip)
	je	.Lx\name\()_leave_\clock
	/* Only counted, or left out by a filter: as a rule it was never open. */
	mov	%r10, %rax
	shr	$32, %rax
	TABLE_ID
	ja	.Lx\name\()_filtered_\clock
	lea	tramp_table(%rip), %rcx
	testb	$TRAMP_ONLY_COUNTED, (%rcx,%rax)
	jnz	.Lx\name\()_go_\clock
.Lx\name\()_filtered_\clock:
	testl	$TRAMP_CHECK_FILTERS, tramp_checks(%rip)
	jz	.Lx\name\()_leave_\clock
	lea	\x(%rsp), %rax
	SLOW	tramp_filter_gone
	cmp	$ANSWER_PASS, %eax
	je	.Lx\name\()_go_\clock
.Lx\name\()_leave_\clock:
	lea	\x(%rsp), %rax
	SLOW	tramp_slow_leave
	shr	$32, %r10
	shl	$32, %r10
	cmp	$ANSWER_AGAIN, %eax
	je	.Lx\name\()_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lx\name\()_go_\clock
	testl	$\wanted, tramp_wanted(%rip)
	jz	.Lx\name\()_unknown_\clock
	HANDLERS_NOW xray_\name, handler_call_xray, \clock
.Lx\name\()_unknown_\clock:
	EVENT_COLD \x				/* not known as open: leave top alone */
	jmp	.Lx\name\()_go_\clock
.Lx\name\()_full_\clock:
	EVENT_SLOW \x
	jmp	.Lx\name\()_top_\clock
	.cfi_endproc
	.size	tramp_xray_\name\()_\clock, . - tramp_xray_\name\()_\clock
.endm

	XRAY_ENTRY tsc
	XRAY_ENTRY mono
	XRAY_ENTRY coarse
	XRAY_LEAVE exit, 24, WANTED_EXIT, tsc
	XRAY_LEAVE exit, 24, WANTED_EXIT, mono
	XRAY_LEAVE exit, 24, WANTED_EXIT, coarse
	XRAY_LEAVE tail, 32, WANTED_TAIL, tsc
	XRAY_LEAVE tail, 32, WANTED_TAIL, mono
	XRAY_LEAVE tail, 32, WANTED_TAIL, coarse

	.section .note.GNU-stack, "", @progbits
