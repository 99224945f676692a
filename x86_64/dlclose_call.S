/* SPDX-License-Identifier: MIT */
/*
 * int close_with_us(handle)
 *
 *	in	rdi handle
 *	out	eax: what the real dlclose returns, to which it jumps
 *	stack	 0 handle   8 return address
 *	clobbers what a call may
 */
	.text
	.p2align 4
	.globl	close_with_us
	.hidden	close_with_us
	.type	close_with_us, @function
close_with_us:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	call	close_look
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*close_real(%rip)
	.cfi_endproc
	.size	close_with_us, . - close_with_us

	.section .note.GNU-stack, "", @progbits
