/* SPDX-License-Identifier: MIT */
/* place_call(rdi: a function): calls it with a number of its own in each register, and the carry flag set. */
	.text
	.globl	place_call
	.type	place_call, @function
place_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	push	%rdi
	mov	$0xa1, %eax
	mov	$0xb1, %ebx
	mov	$0xc1, %ecx
	mov	$0xd1, %edx
	mov	$0x2e, %esi
	mov	$0xd117, %edi
	mov	$0xb9, %ebp
	mov	$0x81, %r8d
	mov	$0x91, %r9d
	mov	$0x101, %r10d
	mov	$0x111, %r11d
	mov	$0x121, %r12d
	mov	$0x131, %r13d
	mov	$0x141, %r14d
	mov	$0x151, %r15d
	stc
	call	*(%rsp)
	lea	16(%rsp), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.size	place_call, . - place_call
	.section .note.GNU-stack, "", @progbits
