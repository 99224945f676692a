/* SPDX-License-Identifier: MIT */
/*
 * For t/sites/entry.t: entry_carries(n) calls entry_carry n times without a carry, and returns how many of these found
 * one.
 */
	.text
	.globl	entry_carry
	.type	entry_carry, @function
entry_carry:
	.cfi_startproc
	mov	$0, %eax
	adc	%eax, %eax
	ret
	.cfi_endproc
	.size	entry_carry, . - entry_carry
	.p2align 4
	.globl	entry_carries
	.type	entry_carries, @function
entry_carries:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	xor	%ebx, %ebx
1:	clc
	call	entry_carry
	add	%eax, %ebx
	dec	%edi
	jnz	1b
	mov	%ebx, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	entry_carries, . - entry_carries
	.section .note.GNU-stack, "", @progbits
