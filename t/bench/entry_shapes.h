/* SPDX-License-Identifier: MIT */
/*
 * The shapes that the beginnings of functions have, for entry.sh: each is an unsigned long f(unsigned long a), return
 * a + 1. SHAPE_<name> is the function, without its name; `inner` does the same and is called or jumped to by some.
 * ENTRY_SHAPES names all, for C, and for the assembler with the byte that precedes them: a NOP, or ret, no padding.
 */
#ifndef ENTRY_SHAPES_H
#define ENTRY_SHAPES_H

#ifndef __ASSEMBLER__
#define ENTRY_SHAPES(X) \
	X(plain) X(end) X(rip) X(jcc) X(jmp) X(short) X(sub) X(subbare) X(push) X(pushbare) X(mov) X(xor) X(first) \
	X(memory)
#else
	/* Whole instructions, and no more of them. */
	.macro	SHAPE_plain inner
	push	%rbx
	mov	%rdi, %rbx
	lea	1(%rbx), %rax
	pop	%rbx
	ret
	.endm
	/* The function's end is displaced, too. */
	.macro	SHAPE_end inner
	lea	1(%rdi), %rax
	ret
	.endm
	.macro	SHAPE_rip inner
	mov	\inner(%rip), %rdx
	lea	1(%rdi), %rax
	ret
	.endm
	.macro	SHAPE_jcc inner
	test	%rdi, %rdi
	js	1f
	lea	1(%rdi), %rax
	ret
1:	xor	%eax, %eax
	ret
	.endm
	.macro	SHAPE_jmp inner
	jmp	\inner
	.endm
	/* A branch leads into the first five bytes: a jump of two, to one in the padding. */
	.macro	SHAPE_short inner
	xor	%eax, %eax
1:	lea	1(%rdi,%rax), %rax
	test	%rax, %rax
	js	1b
	ret
	.endm
	/* The same, which leaves the call alone; bare, four bytes of it are behind the jump. */
	.macro	SHAPE_sub inner
	sub	$8, %rsp
	call	\inner
	add	$8, %rsp
	ret
	.endm
	.macro	SHAPE_subbare inner
	SHAPE_sub \inner
	.endm
	/* From here on the jump covers a part of a call: made in place, as many bytes behind the jump as there are. */
	.macro	SHAPE_push inner
	push	%rdi
	call	\inner
	pop	%rdi
	ret
	.endm
	.macro	SHAPE_pushbare inner
	SHAPE_push \inner
	.endm
	.macro	SHAPE_mov inner
	mov	%rdi, %rsi
	call	\inner
	ret
	.endm
	.macro	SHAPE_xor inner
	xor	%esi, %esi
	call	\inner
	ret
	.endm
	.macro	SHAPE_first inner
	call	\inner
	ret
	.endm
	.macro	SHAPE_memory inner
	sub	$8, %rsp
	call	*\inner\()_at(%rip)
	add	$8, %rsp
	ret
	.endm

	.macro	ENTRY_SHAPES macro
	.irp	shape, plain, end, rip, jcc, jmp, short, sub, push, first
	\macro	\shape, 0x90
	.endr
	.irp	shape, subbare, pushbare, mov, xor, memory
	\macro	\shape, 0xc3
	.endr
	.endm
#endif

#endif
