/* SPDX-License-Identifier: MIT */
/*
 * int dlclose_call(handle)
 *
 *	in	rdi handle
 *	out	eax: what the real dlclose returns, to which it jumps
 *	stack	 0 handle   8 return address
 *	clobbers what a call may
 *
 * dlclose_call_ways: what is called first, and the real one (dlclose_call.h).
 */
	.text
	.p2align 4
	.globl	dlclose_call
	.hidden	dlclose_call
	.type	dlclose_call, @function
dlclose_call:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	call	*dlclose_call_ways(%rip)
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*dlclose_call_ways+8(%rip)
	.cfi_endproc
	.size	dlclose_call, . - dlclose_call

	.bss
	.p2align 3
	.globl	dlclose_call_ways
	.hidden	dlclose_call_ways
	.type	dlclose_call_ways, @object
dlclose_call_ways:
	.skip	16
	.size	dlclose_call_ways, . - dlclose_call_ways

	.section .note.GNU-stack, "", @progbits
