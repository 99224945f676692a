/* SPDX-License-Identifier: MIT */
/*
 * Runs code in a state of registers, and keeps the state in which it comes out. struct machine of displace.c: 16
 * registers in the machine's order, flags (128), way out (136), six words, then an area of xsave (192).
 */
	.bss
	.balign 64
own_fx:		.skip 512
	.globl displace_rsp
displace_rsp:	.skip 8
saved_rax:	.skip 8
out:		.skip 8
code:		.skip 8
way:		.skip 8

	.text
/*
 * void displace_run(const struct machine *in, struct machine *out, const void *code)
 * The code leaves by a jump to one of the three below, in any state.
 */
	.globl displace_run
	.type displace_run, @function
displace_run:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, displace_rsp(%rip)
	mov	%rsi, out(%rip)
	mov	%rdx, code(%rip)
	fxsave64 own_fx(%rip)
	/* What was written as code by another address is fetched anew. */
	mov	%rdi, %rsi
	xor	%eax, %eax
	xor	%ecx, %ecx
	cpuid
	mov	%rsi, %rdi
	mov	$0xe7, %eax
	xor	%edx, %edx
	xrstor64 192(%rdi)
	pushq	128(%rdi)
	popfq
	mov	0(%rdi), %rax
	mov	8(%rdi), %rcx
	mov	16(%rdi), %rdx
	mov	24(%rdi), %rbx
	mov	32(%rdi), %rsp
	mov	40(%rdi), %rbp
	mov	48(%rdi), %rsi
	mov	64(%rdi), %r8
	mov	72(%rdi), %r9
	mov	80(%rdi), %r10
	mov	88(%rdi), %r11
	mov	96(%rdi), %r12
	mov	104(%rdi), %r13
	mov	112(%rdi), %r14
	mov	120(%rdi), %r15
	mov	56(%rdi), %rdi
	jmp	*code(%rip)
	.size displace_run, . - displace_run

/* Behind the displaced instructions, and where branches go. */
	.globl displace_through
displace_through:
	movq	$1, way(%rip)
	jmp	1f
	.globl displace_taken
displace_taken:
	movq	$2, way(%rip)
1:	mov	%rax, saved_rax(%rip)
	mov	out(%rip), %rax
	mov	%rcx, 8(%rax)
	mov	%rdx, 16(%rax)
	mov	%rbx, 24(%rax)
	mov	%rsp, 32(%rax)
	mov	%rbp, 40(%rax)
	mov	%rsi, 48(%rax)
	mov	%rdi, 56(%rax)
	mov	%r8, 64(%rax)
	mov	%r9, 72(%rax)
	mov	%r10, 80(%rax)
	mov	%r11, 88(%rax)
	mov	%r12, 96(%rax)
	mov	%r13, 104(%rax)
	mov	%r14, 112(%rax)
	mov	%r15, 120(%rax)
	mov	displace_rsp(%rip), %rsp
	pushfq
	popq	128(%rax)
	mov	saved_rax(%rip), %rcx
	mov	%rcx, 0(%rax)
	mov	way(%rip), %rcx
	mov	%rcx, 136(%rax)
	fxsave64 192(%rax)

/* A handler of signals sends the thread here, the state is kept already. */
	.globl displace_finish
displace_finish:
	mov	displace_rsp(%rip), %rsp
	pushq	$2
	popfq
	fxrstor64 own_fx(%rip)
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret

	.section .note.GNU-stack, "", @progbits
