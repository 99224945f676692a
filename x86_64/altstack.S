/* SPDX-License-Identifier: MIT */
/*
 * void altstack_switch(function, argument, top)
 *
 *	in	rdi function, rsi its argument, rdx top of the other stack, aligned to 16
 *	out	-
 *	clobbers what a call may
 *	stack	the caller's: 0 rbp   8 return address; nothing of ours on the other one
 *
 * Calls and returns stay in pairs, as a shadow stack needs them; unwinders see the caller of this as the function's
 * caller. The frame is marked as a signal's, so that gdb does not expect the caller's frame above it: it would end
 * there with "previous frame inner to this frame". Nothing else comes of that, since the return address has the CFI of
 * the call.
 */
#include "x86_64/tramp_pieces.h"

	.text
	.p2align 4
	.globl	altstack_switch
	.hidden	altstack_switch
	.type	altstack_switch, @function
altstack_switch:
	.cfi_startproc
	.cfi_signal_frame
	FRAME
	mov	%rdx, %rsp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	altstack_switch, . - altstack_switch

	.section .note.GNU-stack, "", @progbits
