/* SPDX-License-Identifier: MIT */
/*
 * int dlclose_with_us(handle)
 *
 *	in	rdi handle
 *	out	eax: what the real dlclose returns, to which it jumps
 *	stack	 0 handle   8 return address
 *	clobbers what a call may
 */
	.text
	.p2align 4
	.globl	dlclose_with_us
	.hidden	dlclose_with_us
	.type	dlclose_with_us, @function
dlclose_with_us:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	call	dlclose_look
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*dlclose_real(%rip)
	.cfi_endproc
	.size	dlclose_with_us, . - dlclose_with_us

	.section .note.GNU-stack, "", @progbits
