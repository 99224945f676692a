/* SPDX-License-Identifier: MIT */
/*
 * frame_restorer: what a handler of ours returns to.
 *
 *	in	rsp = address of the kernel's frame, after its return address
 *	out	does not return
 *	stack	as the kernel wants it
 *
 * No unwind information: debuggers and unwinders know these bytes. They look at the instruction before a return
 * address, hence the nop.
 */
	.text
	.balign 16
	nop
	.globl	frame_restorer
	.hidden	frame_restorer
	.type	frame_restorer, @function
frame_restorer:
	mov	$15, %eax	/* __NR_rt_sigreturn */
	syscall
	.size	frame_restorer, . - frame_restorer

	.section .note.GNU-stack, "", @progbits
