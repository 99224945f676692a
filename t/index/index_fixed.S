/* SPDX-License-Identifier: MIT */
/*
 * For t/index/index.t: a program at fixed addresses, so without relocations. An absolute jump table leads to parts of a
 * function that have unwind information of their own; data points to a function without a name; a symbol of a function
 * stands where the stack is not a function's.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	mov	$60, %eax
	syscall
	.cfi_endproc
	.size	_start, . - _start
	.fill	16, 1, 0xcc

	.globl	chooses
	.type	chooses, @function
chooses:
	.cfi_startproc
	cmp	$1, %edi
	ja	.Ldefault
	jmp	*.Ltable(,%rdi,8)
	.cfi_endproc
	.size	chooses, . - chooses
	.fill	16, 1, 0xcc

.Lfirst:				/* nameless parts: no functions */
	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.fill	16, 1, 0xcc
.Lsecond:
	.cfi_startproc
	mov	$2, %eax
	ret
	.cfi_endproc
	.fill	16, 1, 0xcc
.Ldefault:				/* a conditional branch leads here, and a pointer */
	.cfi_startproc
	mov	$3, %eax
	ret
	.cfi_endproc
	.fill	16, 1, 0xcc

.Lpointed:				/* a function of 14 bytes */
	.cfi_startproc
	mov	$4, %eax
	sub	$8, %rsp
	add	$4, %rsp
	ret
	.cfi_endproc
	.fill	16, 1, 0xcc

	.globl	outer
	.type	outer, @function
outer:	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	mov	%edi, %ebx
	mov	$5, %eax
	.globl	within
	.type	within, @function
within:	mov	$6, %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	within, . - within
	.size	outer, . - outer

	.section .rodata
	.p2align 3
.Ltable:
	.quad	.Lfirst, .Lsecond

	.data
	.p2align 3
	.quad	.Lpointed, .Ldefault

	.section .note.GNU-stack, "", @progbits
