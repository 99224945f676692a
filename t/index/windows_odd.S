/* SPDX-License-Identifier: MIT */
/*
 * Functions that jump, call and return in ways of their own: windows_odd.c calls them. Each returns a number that says
 * where it has been: what a window displaces that something leads into, runs wrong.
 */
.macro	FUNCTION name
	.globl	\name
	.type	\name, @function
\name:
.endm

.macro	END name
	.size	\name, . - \name
.endm

	.text
/* Into a row of steps, from a base in the code; numbers lie nearby that could be distances from there. */
FUNCTION odd_steps
	lea	numbers(%rip), %rcx
	mov	4(%rcx), %edx
	lea	0f(%rip), %rax
	lea	(%rax,%rdi,2), %rax
	xor	%ecx, %ecx
	jmp	*%rax
0:	inc	%ecx
	inc	%ecx
	inc	%ecx
	inc	%ecx
	inc	%ecx
	inc	%ecx
	lea	(%rcx,%rdx,8), %eax
	ret
END odd_steps

/* As above, into another function's row. */
FUNCTION odd_row
	inc	%eax
	inc	%eax
row:	inc	%eax
	inc	%eax
	inc	%eax
	inc	%eax
	inc	%eax
	ret
END odd_row
FUNCTION odd_leaps
	lea	row(%rip), %rdx
	lea	(%rdx,%rdi,2), %rdx
	xor	%eax, %eax
	jmp	*%rdx
END odd_leaps

/* By a table of 16-bit distances. */
FUNCTION odd_short_table
	lea	distances(%rip), %rcx
	movswq	(%rcx,%rdi,2), %rdx
	lea	0f(%rip), %rax
	add	%rdx, %rax
	xor	%ecx, %ecx
	jmp	*%rax
0:	inc	%ecx
	inc	%ecx
	inc	%ecx
	inc	%ecx
	mov	%ecx, %eax
	ret
END odd_short_table

/* By the table of a switch, and by a base. */
FUNCTION odd_both
	cmp	$3, %edi
	ja	4f
	lea	cases(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rax
	add	%rcx, %rax
	xor	%ecx, %ecx
	jmp	*%rax
.Lcase0:
	inc	%ecx
.Lcase1:
	inc	%ecx
.Lcase2:
	inc	%ecx
.Lcase3:
	inc	%ecx
	mov	%ecx, %eax
	ret
4:	lea	5f(%rip), %rax
	lea	-8(%rax,%rdi,2), %rax
	mov	$100, %ecx
	jmp	*%rax
5:	inc	%ecx
	inc	%ecx
	inc	%ecx
	inc	%ecx
	mov	%ecx, %eax
	ret
END odd_both

/* Past the prefix of an instruction. */
FUNCTION odd_prefix
	mov	%rdi, -8(%rsp)
	test	%edi, %edi
	je	1f
	lock
1:	incl	-8(%rsp)
	mov	-8(%rsp), %eax
	ret
END odd_prefix

/* Pops its own address, and calls through it. */
FUNCTION odd_pops
	.byte	0xe8, 0, 0, 0, 0
0:	pop	%rdx
	lea	1f - 0b(%rdx), %rdx
	mov	%rdx, -8(%rsp)
	xor	%eax, %eax
	jmp	*-8(%rsp)
	inc	%eax
1:	inc	%eax
	inc	%eax
	ret
END odd_pops

/* The red zone, odd stack pointers, flags and the direction between small instructions. */
FUNCTION odd_stack
	push	%rbx
	push	%rsp
	pop	%rax
	sub	%rsp, %rax
	mov	%edi, -128(%rsp)
	mov	%dil, -1(%rsp)
	lea	-3(%rsp), %rsp
	pushfq
	std
	cmp	%edi, %eax
	pushfq
	cld
	pop	%rcx
	and	$0x8d5, %ecx
	popfq
	lea	3(%rsp), %rsp
	cmp	%edi, %eax
	lahf
	seto	%al
	stc
	adc	-128(%rsp), %eax
	cmc
	rcl	%eax
	movzbl	-1(%rsp), %ebx
	lea	(%rax,%rbx), %eax
	add	%ecx, %eax
	enter	$16, $0
	mov	%eax, -4(%rbp)
	leave
	pop	%rbx
	ret
END odd_stack

/* Branches that have no long form. */
FUNCTION odd_loops
	mov	%edi, %ecx
	xor	%eax, %eax
	jrcxz	2f
1:	inc	%eax
	loop	1b
2:	mov	%edi, %ecx
	jecxz	4f
3:	add	$3, %eax
	cmp	$9, %eax
	loopne	3b
4:	ret
END odd_loops

/* Comparisons of x87, whose condition codes are asked for later. */
FUNCTION odd_x87
	fldz
	fld1
	fcompp
	fnstsw	%ax
	and	$0x4500, %eax
	fld1
	mov	%rdi, -8(%rsp)
	fildl	-8(%rsp)
	fcomip	%st(1), %st
	fstp	%st(0)
	setb	%cl
	movzbl	%cl, %ecx
	add	%ecx, %eax
	ret
END odd_x87

/* A return with no room behind it, and a function that it shares bytes with. */
	.p2align 4
FUNCTION odd_last
	.rept	8
	nop
	.endr
	xor	%eax, %eax
	test	%edi, %edi
	je	1f
	jmp	odd_next
1:	ret
END odd_last
FUNCTION odd_next
	push	%rbp
	mov	%rsp, %rbp
	mov	$7, %eax
	pop	%rbp
	ret
END odd_next

	.section .rodata
	.balign	4
numbers: .long	0, 2, 4, 6
cases:	.long	.Lcase0 - cases, .Lcase1 - cases, .Lcase2 - cases, .Lcase3 - cases
distances: .short 0, 2, 4, 6
	.section .note.GNU-stack, "", @progbits
