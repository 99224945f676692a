/* SPDX-License-Identifier: MIT */
/*
 * A library of controlled.c's: counted() comes to a return of two bytes, right behind which another function begins.
 * There is no padding in reach, and something leads to the return: a jump in its place shares the other's first bytes.
 */
	.text
	.globl	counted
	.type	counted, @function
counted:
	xor	%edi, %edi
	call	last
	mov	$1, %edi
	call	last
	xor	%edi, %edi
	call	byte
	ret
	.size	counted, . - counted

.macro	FAR name
	.globl	\name
	.type	\name, @function
\name:
	.rept	40
	add	$1, %eax
	add	$1, %ecx
	.endr
.endm

FAR	counted_in_handler
	lea	1(%rdi), %rax
	ret
	.size	counted_in_handler, . - counted_in_handler

FAR	last
	test	%edi, %edi
	je	1f
	jmp	next
1:	rep; ret
	.size	last, . - last

	.globl	next
	.type	next, @function
next:
	push	%rbp
	mov	%rsp, %rbp
	.rept	40
	add	$1, %eax
	add	$1, %ecx
	.endr
	pop	%rbp
	ret
	.size	next, . - next

/* Likewise, of one byte: all bytes of the jump's distance are shared. */
FAR	byte
	test	%edi, %edi
	je	1f
	jmp	behind
1:	ret
	.size	byte, . - byte

	.globl	behind
	.type	behind, @function
behind:
	push	%rbp
	mov	%rsp, %rbp
	.rept	40
	add	$1, %eax
	add	$1, %ecx
	.endr
	pop	%rbp
	ret
	.size	behind, . - behind

	.section .rodata
	.globl	library_functions, library_count
	.type	library_functions, @object
	.type	library_count, @object
	.balign	8
library_functions: .quad 0
	.size	library_functions, 8
library_count: .long 0
	.size	library_count, 4
	.section .note.GNU-stack, "", @progbits
