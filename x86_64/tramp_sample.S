/* SPDX-License-Identifier: MIT */
/*
 * Gates of functions that give and free sampled blocks (runtime/values/sample.h). As a rule a call goes straight on to
 * the body: its size is subtracted from what is left until the thread's next sample, or the block that it frees is not
 * in the set. Else it goes on as by tramp_gate_intercept, with all as on entry; then C decides.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address; rdi, rsi, rdx: arguments
 *	kept	in the red zone: -8 rax, -16 rdx, -24 rcx
 *
 * A size is subtracted by one instruction, and only C makes the rest of the way longer, so a handler in between does no
 * harm. Sizes above 2^63 fail in the function: they make a carry, and C takes them back.
 */
#include "x86_64/tramp_pieces.h"

	.text
	.p2align 6
	.globl	tramp_sample_begin
	.hidden	tramp_sample_begin
tramp_sample_begin:

.macro	SAMPLE	name
	.p2align 6
	.globl	tramp_sample_\name
	.hidden	tramp_sample_\name
	.type	tramp_sample_\name, @function
tramp_sample_\name:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	endbr64
	cmpl	$0, tramp_sampling(%rip)
	je	.Ltake_\name
.endm

.macro	BODY
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_adjust_cfa_offset 16
.endm

/* What follows BODY: .Lgo_on_\name, rax, rdx, rcx as on entry; .Ltake_\name. */
.macro	SAMPLE_END name
.Lsample_\name:
	mov	-8(%rsp), %rax
	mov	-16(%rsp), %rdx
.Ltake_\name:
	jmp	*dispatch_table+EVENT_INTERCEPT(%rip)
	.cfi_endproc
	.size	tramp_sample_\name, . - tramp_sample_\name
.endm

/* Subtracts size, by way of \by; goes to .Lsample_\name. Leaves no carry. */
.macro	SUBTRACT size, by, name
	mov	tramp_sample@gottpoff(%rip), \by
	sub	\size, %fs:(\by)
	jbe	.Lsample_\name
	js	.Lsample_\name
.endm

/*
 * Functions whose size is in a register. relays: another one that tells, where it is `most` at most, that another
 * function will count the call.
 */
.macro	GIVES	name, size, relays, most
	SAMPLE	\name
.ifnb	\relays
	cmp	$\most, \relays
	jbe	1f
.endif
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	SUBTRACT \size, %rax, \name
	mov	-8(%rsp), %rax
1:
.ifnb	\relays
	clc
.endif
	BODY
	SAMPLE_END \name
.endm

	GIVES	malloc, %rdi
	GIVES	aligned_alloc, %rsi
	GIVES	aligned_alloc_relays, %rsi, %rdi, TRAMP_SAMPLE_ALIGNED
	GIVES	posix_memalign, %rdx
	GIVES	posix_memalign_relays, %rdx, %rsi, TRAMP_SAMPLE_ALIGNED

/* The product of two, which fails where that is too large. */
	SAMPLE	calloc
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	mov	%rdi, %rax
	mul	%rsi
	jc	1f
	SUBTRACT %rax, %rdx, calloc
1:	mov	-8(%rsp), %rax
	mov	-16(%rsp), %rdx
	clc
	BODY
	SAMPLE_END calloc

/*
 * Goes to \found if the block rdi is in the set, else to \none: level by level, each a bucket of a line. rax, rcx and
 * rdx are kept by the caller.
 */
.macro	LEVEL	bits, none, found, last
	mov	%rax, %rcx
	shr	$64 - \bits, %rcx
	shl	$6, %rcx
	add	%rdx, %rcx
.ifeq	\bits - TRAMP_SAMPLED_BITS
	cmpq	$0, (%rcx)			/* none here, and none further */
	je	\none
.endif
.irp	n, 0, 1, 2, 3, 4, 5, 6
	cmp	%rdi, BUCKET_BLOCK + 8 * \n(%rcx)
	je	\found
.endr
.if	\last
	jmp	\none
.else
	cmpl	$0, BUCKET_FURTHER(%rcx)
	je	\none
.endif
.endm
.if	(BUCKET_SIZE - 64) | (TRAMP_BUCKET - 7)
	.error	"a bucket is another one"
.endif

.macro	LOOK	none, found
	movabs	$TRAMP_SAMPLED_HASH, %rdx
	mov	%rdx, %rax
	imul	%rdi, %rax
	mov	%rax, %rcx
	shr	$32, %rcx
	xor	%rcx, %rax
	imul	%rdx, %rax
	lea	tramp_sampled(%rip), %rdx
	LEVEL	TRAMP_SAMPLED_BITS, \none, \found, 0
	mov	tramp_sampled_more(%rip), %rdx
	test	%rdx, %rdx
	jz	\none
	LEVEL	TRAMP_SAMPLED_BITS_2, \none, \found, 0
	add	$BUCKET_SIZE << TRAMP_SAMPLED_BITS_2, %rdx
	LEVEL	TRAMP_SAMPLED_BITS_3, \none, \found, 0
	add	$BUCKET_SIZE << TRAMP_SAMPLED_BITS_3, %rdx
	LEVEL	TRAMP_SAMPLED_BITS_4, \none, \found, 1
.endm

.macro	LOOK_AND_GO name
	mov	%rcx, -24(%rsp)
	LOOK	1f, 2f
1:	mov	-8(%rsp), %rax
	mov	-16(%rsp), %rdx
	mov	-24(%rsp), %rcx
3:	clc
	BODY
2:	mov	-24(%rsp), %rcx
	SAMPLE_END \name
.endm

	SAMPLE	free
	test	%rdi, %rdi
	jz	3f
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	LOOK_AND_GO free

/* These give one, too. */
	SAMPLE	realloc_relays
	test	%rdi, %rdi
	jnz	.Lrealloc
	BODY
.Ltake_realloc_relays:
	jmp	*dispatch_table+EVENT_INTERCEPT(%rip)
	.cfi_endproc
	.size	tramp_sample_realloc_relays, . - tramp_sample_realloc_relays

	SAMPLE	realloc
.Lrealloc:
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	SUBTRACT %rsi, %rax, realloc
	test	%rdi, %rdi
	jz	.Lnothing_old
	LOOK_AND_GO realloc

	SAMPLE	reallocarray
	mov	%rax, -8(%rsp)
	mov	%rdx, -16(%rsp)
	mov	%rsi, %rax
	mul	%rdx
	jc	.Lnothing_old
	SUBTRACT %rax, %rdx, reallocarray
	test	%rdi, %rdi
	jz	.Lnothing_old
	LOOK_AND_GO reallocarray

	SAMPLE	nothing
.Lnothing_go:
	clc
	BODY
.Lnothing_old:
	mov	-8(%rsp), %rax
	mov	-16(%rsp), %rdx
	jmp	.Lnothing_go
.Ltake_nothing:
	jmp	*dispatch_table+EVENT_INTERCEPT(%rip)
	.cfi_endproc
	.size	tramp_sample_nothing, . - tramp_sample_nothing

	.globl	tramp_sample_end
	.hidden	tramp_sample_end
tramp_sample_end:

	.section .note.GNU-stack, "", @progbits
