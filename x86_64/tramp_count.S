/* SPDX-License-Identifier: MIT */
/* Trampolines that read no clock: counting calls, and nothing at all. Contract: tramp_pieces.h. */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * Calls through a cell stub.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address
 *	stack	 0 rdx   8 rcx  16 rax  24 body  32 word  40 return address
 */
	.p2align 4
	.globl	tramp_count
	.hidden	tramp_count
	.type	tramp_count, @function
tramp_count:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax, %rcx, %rdx
	mov	32(%rsp), %eax
	and	$ID_MASK, %eax
	COUNT	.Lcounted
.Lcounted:
	RESTORE	%rdx, %rcx, %rax
	.globl	tramp_pass
	.hidden	tramp_pass
tramp_pass:
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_endproc
	.size	tramp_count, . - tramp_count

/* Does a function of the word at \word start recording? Then to where it would be recorded. Clobbers rax, rcx. */
.macro	WATCHED event, word, pass
	mov	\word, %eax
	TABLE_ID
	ja	1f
	lea	tramp_table(%rip), %rcx
	testb	$TRAMP_STARTS, (%rcx,%rax)
	jz	1f
	RESTORE	%rcx, %rax
	jmp	*dispatch_watched+\event(%rip)
	.cfi_adjust_cfa_offset 16
1:	RESTORE	%rcx, %rax
	jmp	\pass
.endm

/* As tramp_pass, for calls through a cell stub, while something may start recording. */
.macro	WATCH	name, event
	.p2align 4
	.globl	tramp_watch_\name
	.hidden	tramp_watch_\name
	.type	tramp_watch_\name, @function
tramp_watch_\name:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax, %rcx
	WATCHED	\event, 24(%rsp), tramp_pass
	.cfi_endproc
	.size	tramp_watch_\name, . - tramp_watch_\name
.endm

	WATCH	intercept, EVENT_INTERCEPT
	WATCH	point, EVENT_POINT

/*
 * Entry sleds: r10d = word. The sled called the stub.
 *
 *	stack	 0 rdx   8 rcx  16 rax  24 return to the sled
 */
	.p2align 4
	.globl	tramp_xray_count
	.hidden	tramp_xray_count
	.type	tramp_xray_count, @function
tramp_xray_count:
	.cfi_startproc
	SAVE	%rax, %rcx, %rdx
	mov	%r10d, %eax
	and	$ID_MASK, %eax
	COUNT	.Lxcounted
.Lxcounted:
	RESTORE	%rdx, %rcx, %rax
	.globl	tramp_xray_pass
	.hidden	tramp_xray_pass
tramp_xray_pass:
	ret
	.cfi_endproc
	.size	tramp_xray_count, . - tramp_xray_count

	.p2align 4
	.globl	tramp_xray_watch
	.hidden	tramp_xray_watch
	.type	tramp_xray_watch, @function
tramp_xray_watch:
	.cfi_startproc
	SAVE	%rax, %rcx
	WATCHED	EVENT_XRAY_ENTRY, %r10d, tramp_xray_pass
	.cfi_endproc
	.size	tramp_xray_watch, . - tramp_xray_watch

/*
 * Exit and tail sleds: r10d = word; see XRAY_LEAVE in tramp_xray.S.
 *
 *	stack	 0 rcx   8 rax  16 slot S (exit), or the return to the sled at X and S after it (tail)
 */
.macro	XRAY_IDLE name, x, clock
	.p2align 4
	.globl	tramp_xray_\name\()_idle_\clock
	.hidden	tramp_xray_\name\()_idle_\clock
	.type	tramp_xray_\name\()_idle_\clock, @function
tramp_xray_\name\()_idle_\clock:
	.cfi_startproc
	SAVE	%rax, %rcx
	SELF	.Lidle_\name\()_go_\clock
	STACK	%rcx, .Lidle_\name\()_go_\clock
	lea	\x(%rsp), %rax			/* X */
	cmp	%rax, STACK_TOP(%rcx)
	RESTORE	%rcx, %rax
	je	tramp_xray_\name\()_\clock
	ret
	.cfi_adjust_cfa_offset 16
.Lidle_\name\()_go_\clock:
	RESTORE	%rcx, %rax
	ret
	.cfi_endproc
	.size	tramp_xray_\name\()_idle_\clock, . - tramp_xray_\name\()_idle_\clock
.endm

	XRAY_IDLE exit, 8, tsc
	XRAY_IDLE exit, 8, mono
	XRAY_IDLE exit, 8, coarse
	XRAY_IDLE tail, 16, tsc
	XRAY_IDLE tail, 16, mono
	XRAY_IDLE tail, 16, coarse

	.section .note.GNU-stack, "", @progbits
