/* SPDX-License-Identifier: MIT */
/*
 * long vectors_keep(function, a, b)
 *
 *	in	rdi function, rsi a, rdx b
 *	out	rax: the function's result; vector and x87 registers as before
 *	stack	-512-16(%rbp), aligned to 16: fxsave area
 */
#include "x86_64/tramp_pieces.h"

	.text
	.p2align 4
	.globl	vectors_keep
	.hidden	vectors_keep
	.type	vectors_keep, @function
vectors_keep:
	.cfi_startproc
	FRAME
	sub	$512, %rsp
	and	$-16, %rsp
	fxsave64 (%rsp)
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	call	*%rax
	fxrstor64 (%rsp)
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	vectors_keep, . - vectors_keep

/*
 * void vectors_low(to)
 *
 *	in	rdi to
 *	out	all registers as before; to: the lower 8 bytes of xmm0 to xmm7
 *	stack	nothing
 */
	.p2align 4
	.globl	vectors_low
	.hidden	vectors_low
	.type	vectors_low, @function
vectors_low:
	.cfi_startproc
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movq	%xmm\n, 8*\n(%rdi)
	.endr
	ret
	.cfi_endproc
	.size	vectors_low, . - vectors_low

	.section .note.GNU-stack, "", @progbits
