/* SPDX-License-Identifier: MIT */
/*
 * empty_function: does nothing.
 *
 *	in	any
 *	out, clobbers nothing
 *	stack	no more than the return address
 */
	.text
	.p2align 4
	.globl	empty_function
	.hidden	empty_function
	.type	empty_function, @function
empty_function:
	.cfi_startproc
	endbr64
	ret
	.cfi_endproc
	.size	empty_function, . - empty_function

	.section .note.GNU-stack, "", @progbits
