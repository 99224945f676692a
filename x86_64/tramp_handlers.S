/* SPDX-License-Identifier: MIT */
/* The ways from a trampoline to handlers of the program, with registers saved. Contracts: tramp.h, "Handlers". */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * eax = enum tramp_handled, rcx = the trampoline's frame. Result of tramp_handlers() in eax. Keeps everything but rax, rcx, rdx and flags: the
 * C code uses general registers only, and tramp_call_saved() below keeps the rest.
 *
 *	stack	-144(%rbp) struct handlers_registers, -16 r11, -8 r10, 0 rbp
 */
	.p2align 4
	.globl	handler_call
	.hidden	handler_call
	.type	handler_call, @function
handler_call:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%r10
	push	%r11
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	%r11
	push	%r10
	push	%r9
	push	%r8
	push	%rsp				/* C knows better; also rax, rcx, rdx, r10, r11, from the trampoline's frame */
	push	(%rbp)
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rbx
	push	%rax
	mov	%rsp, %rdi
	mov	%eax, %esi
	mov	%rcx, %rdx
	and	$-16, %rsp
	cld
	call	tramp_handlers
	mov	-104(%rbp), %rdi
	mov	-112(%rbp), %rsi
	mov	-80(%rbp), %r8
	mov	-72(%rbp), %r9
	mov	-8(%rbp), %r10
	mov	-16(%rbp), %r11
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	handler_call, . - handler_call

/*
 * void tramp_call_saved(event, function, argument, &event->vectors)
 *
 *	stack	0(%rsp) area of xsave, aligned to 64 ... -24(%rbp) flags, -16 r12, -8 rbx, 0 rbp
 */
	.p2align 4
	.globl	tramp_call_saved
	.hidden	tramp_call_saved
	.type	tramp_call_saved, @function
tramp_call_saved:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rbx
	push	%r12
	.cfi_offset %rbx, -24
	.cfi_offset %r12, -32
	pushfq
	sub	tramp_vectors+VECTORS_SIZE(%rip), %rsp
	and	$-64, %rsp
	mov	%rsp, (%rcx)
	mov	%rsi, %r8
	mov	%rdx, %rsi
	mov	tramp_vectors+VECTORS_MASK(%rip), %ebx
	mov	%ebx, %eax
	xor	%edx, %edx
	mov	tramp_vectors+VECTORS_WAY(%rip), %r12d
	cmp	$VECTORS_XSAVE, %r12d
	jb	1f
	/* xrstor wants zeros where xsave writes nothing of the header. */
	xor	%ecx, %ecx
	mov	%rcx, 512(%rsp)
	mov	%rcx, 520(%rsp)
	mov	%rcx, 528(%rsp)
	mov	%rcx, 536(%rsp)
	mov	%rcx, 544(%rsp)
	mov	%rcx, 552(%rsp)
	mov	%rcx, 560(%rsp)
	mov	%rcx, 568(%rsp)
	cmp	$VECTORS_XSAVE, %r12d
	ja	2f
	xsave64	(%rsp)
	jmp	3f
1:	fxsave64 (%rsp)
	jmp	3f
2:	xsavec64 (%rsp)
3:	cld
	call	*%r8
	cmp	$VECTORS_XSAVE, %r12d
	jb	4f
	mov	%ebx, %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	jmp	5f
4:	fxrstor64 (%rsp)
5:	lea	-24(%rbp), %rsp
	popfq
	pop	%r12
	pop	%rbx
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	tramp_call_saved, . - tramp_call_saved

	.section .note.GNU-stack, "", @progbits
