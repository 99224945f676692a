/* SPDX-License-Identifier: MIT */
/* The ways from a trampoline to handlers of the program, with registers saved. Contracts: tramp.h, "Handlers". */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * rax = tramp_handle_*(), rcx = the trampoline's frame, rdx = clock, r10 = third argument of XRay's. The function's result in eax. Keeps everything but
 * rax, rcx and flags: the C code uses general registers only, and tramp_call_saved() below keeps the rest. The parameters: where the trampoline's frame has
 * these registers of the program; r10 of the program is the trampoline's own where the frame has none.
 *
 * What the trampoline wants back is kept in registers that C functions keep, and those come back from the struct: loads cost nothing here, stores do.
 *
 *	stack	-128(%rbp) struct handlers_registers, 0 rbp
 *	r12	rdx, r13 r10, r14 r11
 */
.macro	HANDLER_CALL name, frame_r10, frame_rdx, frame_rcx, frame_rax
	.p2align 5
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	FRAME
	push	%r15
	push	%r14
	.cfi_offset %r14, -32
	push	%r13
	.cfi_offset %r13, -40
	push	%r12
	.cfi_offset %r12, -48
	push	(%rcx)				/* r11 */
	push	\frame_r10
	push	%r9
	push	%r8
	push	%rsp				/* C knows better */
	push	(%rbp)
	push	%rdi
	push	%rsi
	push	\frame_rdx(%rcx)
	push	\frame_rcx(%rcx)
	push	%rbx
	push	\frame_rax(%rcx)
	mov	%rsp, %rdi
	mov	%rcx, %rsi
	mov	%rdx, %r12
	mov	%r10, %r13
	mov	%r11, %r14
	mov	%r10, %rcx
	and	$-16, %rsp
	cld
	call	*%rax
	mov	%r12, %rdx
	mov	%r13, %r10
	mov	%r14, %r11
	mov	-88(%rbp), %rdi
	mov	-96(%rbp), %rsi
	mov	-64(%rbp), %r8
	mov	-56(%rbp), %r9
	mov	-32(%rbp), %r12
	mov	-24(%rbp), %r13
	mov	-16(%rbp), %r14
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %r12
	.cfi_restore %r13
	.cfi_restore %r14
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	HANDLER_CALL handler_call, 8(%rcx), 16, 24, 32
	HANDLER_CALL handler_call_xray, %r10, 8, 16, 24

/* ---- all registers ---- */

/* Registers \kind 0 to 15 to the area, and back. */
.macro	STORE_ALL kind
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups	%\kind\n, 32*\n(%rsp)
	.endr
.endm

.macro	LOAD_ALL kind
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovups	32*\n(%rsp), %\kind\n
	.endr
.endm

/* Condition codes of x87 after fxam: the top register is empty, so the stack is. C1 is its sign, and tells nothing. */
#define X87_CODES 0x4500
#define X87_EMPTY 0x4100
#define X87_SIGN  0x0200
#define X87_MASKS 0x3f		/* of the control word: no exception is raised */
#define FLAGS_OF_RESULTS 0x8d5	/* carry, parity, adjust, zero, sign, overflow: undefined over calls */

/*
 * void tramp_call_saved(event, function, argument, &event->vectors)
 *
 * The quick way, where nobody uses but the general, SSE and AVX registers and mxcsr. Moving those to and fro takes 5 ns where xsavec and xrstor, of no component
 * at all, take 100 on AMD. Whether upper halves are in use is told by looking at them: xgetbv takes 15 ns. Upper halves of zeros come back as unused, as
 * code with SSE instructions likes it. The whole way otherwise: x87's stack is not empty (long double results), an x87 exception is not masked, or a component of
 * tramp_vectors.more is in use.
 *
 *	stack	0(%rsp) struct tramp_saved, or the area of xsave, aligned to 64 ... -24(%rbp) flags, -16 r12, -8 rbx, 0 rbp
 *		quick: ebx = x87's status, r12d = upper halves are in use
 *		whole: ebx = components, r12d = enum tramp_vectors_way
 */
	.p2align 5
	.globl	tramp_call_saved
	.hidden	tramp_call_saved
	.type	tramp_call_saved, @function
tramp_call_saved:
	.cfi_startproc
	FRAME
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
	cmpl	$0, tramp_vectors+VECTORS_QUICK(%rip)
	je	.Lwhole
	fnstcw	SAVED_CONTROL(%rsp)
	stmxcsr	SAVED_MXCSR(%rsp)
	movzwl	SAVED_CONTROL(%rsp), %eax
	not	%eax
	test	$X87_MASKS, %eax
	jnz	.Lwhole				/* else the next instruction might raise a pending exception */
	fxam
	fnstsw	%ax
	and	$~X87_SIGN & 0xffff, %eax
	mov	%eax, %ebx
	and	$X87_CODES, %eax
	cmp	$X87_EMPTY, %eax
	jne	.Lwhole
	cmpl	$0, tramp_vectors+VECTORS_MORE(%rip)
	jne	.Lask_before
.Lquick:
	STORE_ALL ymm
	vorps	%ymm1, %ymm0, %ymm0
	vorps	%ymm3, %ymm2, %ymm2
	vorps	%ymm5, %ymm4, %ymm4
	vorps	%ymm7, %ymm6, %ymm6
	vorps	%ymm9, %ymm8, %ymm8
	vorps	%ymm11, %ymm10, %ymm10
	vorps	%ymm13, %ymm12, %ymm12
	vorps	%ymm15, %ymm14, %ymm14
	vorps	%ymm2, %ymm0, %ymm0
	vorps	%ymm6, %ymm4, %ymm4
	vorps	%ymm10, %ymm8, %ymm8
	vorps	%ymm14, %ymm12, %ymm12
	vorps	%ymm4, %ymm0, %ymm0
	vorps	%ymm12, %ymm8, %ymm8
	vorps	%ymm8, %ymm0, %ymm0
	vextractf128 $1, %ymm0, %xmm0
	xor	%r12d, %r12d
	vptest	%xmm0, %xmm0
	setnz	%r12b
	vzeroupper
	movq	$1, SAVED_QUICK(%rsp)
	call	*%r8
	cmpl	$0, tramp_vectors+VECTORS_MORE(%rip)
	jne	.Lask_behind
.Lunused:
	ldmxcsr	SAVED_MXCSR(%rsp)
	fnstcw	SAVED_CONTROL_BEHIND(%rsp)
	movzwl	SAVED_CONTROL_BEHIND(%rsp), %eax
	cmp	%ax, SAVED_CONTROL(%rsp)
	jne	.Lx87				/* and no fxam: an exception may be pending */
	fxam
	fnstsw	%ax
	and	$~X87_SIGN & 0xffff, %eax
	cmp	%eax, %ebx
	jne	.Lx87
.Lvectors:
	test	%r12d, %r12d
	jz	1f
	LOAD_ALL ymm
	jmp	.Lflags
1:	vzeroupper
	LOAD_ALL xmm
.Lflags:
	lea	-24(%rbp), %rsp
	pushfq					/* popfq takes 6 ns */
	pop	%rax
	xor	(%rsp), %rax
	test	$~FLAGS_OF_RESULTS, %eax
	jnz	.Lflags_changed
.Lback:
	lea	-16(%rbp), %rsp
	.cfi_remember_state
	pop	%r12
	pop	%rbx
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
.Lflags_changed:
	popfq
	jmp	.Lback

.Lx87:
	/* Its stack was empty before, its exceptions masked. */
	fninit
	fnstenv	SAVED_X87(%rsp)
	movzwl	SAVED_CONTROL(%rsp), %eax
	mov	%ax, SAVED_X87(%rsp)
	mov	%bx, SAVED_X87+4(%rsp)
	fldenv	SAVED_X87(%rsp)
	jmp	.Lvectors

.Lask_before:
	mov	$1, %ecx
	xgetbv					/* which components are in use */
	test	%eax, tramp_vectors+VECTORS_MORE(%rip)
	jz	.Lquick
	jmp	.Lwhole
.Lask_behind:
	mov	$1, %ecx
	xgetbv
	and	tramp_vectors+VECTORS_MORE(%rip), %eax
	jz	.Lunused
	/* They were not in use before. */
	xor	%edx, %edx
	xrstor64 .Lnothing(%rip)
	jmp	.Lunused

.Lwhole:
	mov	tramp_vectors+VECTORS_MASK(%rip), %ebx
	mov	tramp_vectors+VECTORS_WAY(%rip), %r12d
	cmp	$VECTORS_XSAVE, %r12d
	jb	1f
	/* xrstor wants zeros where xsave writes nothing of the header. SAVED_QUICK is there, too. */
	xor	%eax, %eax
	mov	%rax, 512(%rsp)
	mov	%rax, 520(%rsp)
	mov	%rax, 528(%rsp)
	mov	%rax, 536(%rsp)
	mov	%rax, 544(%rsp)
	mov	%rax, 552(%rsp)
	mov	%rax, 560(%rsp)
	mov	%rax, 568(%rsp)
	mov	%ebx, %eax
	xor	%edx, %edx
	cmp	$VECTORS_XSAVE, %r12d
	ja	2f
	xsave64	(%rsp)
	jmp	3f
1:	fxsave64 (%rsp)
	jmp	3f
2:	xsavec64 (%rsp)
3:	call	*%r8
	cmp	$VECTORS_XSAVE, %r12d
	jb	4f
	mov	%ebx, %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	jmp	.Lflags
4:	fxrstor64 (%rsp)
	jmp	.Lflags
	.cfi_endproc
	.size	tramp_call_saved, . - tramp_call_saved

	/* An area in which no component is in use; mxcsr must be a good one. */
	.section .rodata
	.p2align 6
.Lnothing:
	.zero	24
	.long	0x1f80
	.zero	576 - 28

	.section .note.GNU-stack, "", @progbits
