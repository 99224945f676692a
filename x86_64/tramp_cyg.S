/* SPDX-License-Identifier: MIT */
/*
 * tramp_cyg: the gate of stubs that the program's calls of compiled-in functions are bound to (audit/live/cyg.h).
 *
 *	in	0(%rsp) body: address of a structure that begins with the address of a function in C; 8(%rsp) word,
 *		16(%rsp) return address
 *	out	jumps there, the stack as it was before the stub; rdx = body. The first two arguments are the program's
 *	clobbers r11, rdx, which a call may
 */
	.text
	.p2align 4
	.globl	tramp_cyg
	.hidden	tramp_cyg
	.type	tramp_cyg, @function
tramp_cyg:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%r11
	.cfi_adjust_cfa_offset -8
	jmp	*(%rdx)
	.cfi_endproc
	.size	tramp_cyg, . - tramp_cyg

	.section .note.GNU-stack, "", @progbits
