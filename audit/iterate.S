/* SPDX-License-Identifier: MIT */
/*
 * int iterate_with_us(callback, data)
 *
 *	in	rdi callback, rsi data
 *	out	eax: the callback's answer for this module if not 0, else what the real dl_iterate_phdr returns
 *	stack	 0 data   8 callback   16 return address
 *
 * Ends in a jump: dl_iterate_phdr lists the namespace of its return address.
 */
	.text
	.p2align 4
	.globl	iterate_with_us
	.hidden	iterate_with_us
	.type	iterate_with_us, @function
iterate_with_us:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	iterate_show_us
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%eax, %eax
	jne	1f
	jmp	*iterate_real(%rip)
1:	ret
	.cfi_endproc
	.size	iterate_with_us, . - iterate_with_us

	.section .note.GNU-stack, "", @progbits
