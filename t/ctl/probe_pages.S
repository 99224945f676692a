/* SPDX-License-Identifier: MIT */
/*
 * A library of controlled.c's: counted() calls functions, each of which has an instruction across two pages, with 1, 2,
 * 3 or 4 bytes of it on the first one, and ends the process where one returns something else than it should. Their
 * last bytes, as those of a jump's distance, lead some hundred MiB below the library, where nothing lies.
 */
#define VALUE 0xd0123450

	.text
.macro	ACROSS number
	.p2align 12
	/* No padding for a jump. */
	.rept	(4096 - \number - 6) / 2
	xchg	%ax, %ax
	.endr
	.if	(4096 - \number - 6) % 2
	nop
	.endif
	.globl	across\number
	.type	across\number, @function
across\number:
	mov	%rdi, %rcx
	mov	%rcx, %rdx
	mov	$VALUE + \number, %eax
	add	$1, %eax
	ret
	.size	across\number, . - across\number
.endm
	ACROSS	1
	ACROSS	2
	ACROSS	3
	ACROSS	4

.macro	CHECK number
	call	across\number
	cmp	$VALUE + \number + 1, %eax
	jne	1f
.endm
	.globl	counted
	.type	counted, @function
counted:
	CHECK	1
	CHECK	2
	CHECK	3
	CHECK	4
	ret
1:	ud2
	.size	counted, . - counted

	.globl	counted_in_handler
	.type	counted_in_handler, @function
counted_in_handler:
	lea	1(%rdi), %rax
	ret
	.size	counted_in_handler, . - counted_in_handler

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
