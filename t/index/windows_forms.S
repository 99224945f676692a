/* SPDX-License-Identifier: MIT */
/* Functions for windows.t: what each way of a probe needs, and what stands in its way. */
	.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro end name
	.size	\name, . - \name
	.endm

	.text
	/* One instruction with room; several that have it together, the last ones from the first on. */
	.balign 64
	function plain
	mov	$1, %eax
	push	%rbx
	pop	%rbx
	xor	%ecx, %ecx
	inc	%eax
	ret
	end plain
	hlt

	/* A branch leads between: no padding near, so what is shorter shares bytes. */
	.balign 512, 0xf4
	function branches
1:	inc	%eax
2:	inc	%eax
	jne	1b
	test	%eax, %eax
	jne	2b
	mov	$0x80, %eax
	ret
	end branches
	.skip	512, 0xf4

	/* The same with padding behind, for one jump. */
	function near
1:	inc	%eax
2:	test	%eax, %eax
	jne	2b
3:	xor	%eax, %eax
	jmp	1b
	end near
	nopw	0(%rax,%rax,1)
	.skip	512, 0xf4

	/* A return behind nothing, with padding behind it. */
	function returns
	jmp	1f
1:	ret
	end returns
	.skip	8, 0x90

	/* A call: what returns, returns behind the window. */
	.balign 16, 0xf4
	function calls
	sub	$8, %rsp
	call	*%rax
	call	*%rdx
	add	$8, %rsp
	ret
	end calls
	.skip	512, 0xf4

	/* What can't be displaced. */
	function waits
	mov	$39, %eax
	syscall
	ret
	end waits
	.skip	16, 0x90
	function locks
	cmpl	$0, %fs:24
	je	1f
	lock
1:	decl	(%rdi)
	nopw	0(%rax,%rax,1)
	ret
	end locks
	.skip	16, 0x90

	/* It may jump between any of these. */
	function computes
	lea	1f(%rip), %rdx
	lea	(%rdx,%rdi,2), %rdx
	jmp	*%rdx
1:	inc	%eax
	inc	%eax
	inc	%eax
	inc	%eax
	mov	%eax, %eax
	ret
	end computes
	.skip	512, 0xf4
	/* It jumps by a table, which says where to. */
	function switches
	lea	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
first:	inc	%eax
	inc	%eax
	inc	%eax
second:	mov	$2, %eax
	ret
	end switches
	.skip	512, 0xf4

	/* A restartable sequence. */
	function restarts
	mov	$1, %eax
sequence:
	mov	$2, %eax
	mov	$3, %eax
behind:	mov	$4, %eax
	ret
	.long	0x53053053
abort:	mov	$5, %eax
	ret
	end restarts
	.skip	16, 0x90

	.section .rodata
	.balign 4
table:	.long	first - table
	.long	second - table
	.section __rseq_cs, "aw"
	.balign 32
	.long	0, 0
	.quad	sequence, behind - sequence, abort
	.section .note.GNU-stack, "", @progbits
