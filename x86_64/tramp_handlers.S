/* SPDX-License-Identifier: MIT */
/* The ways from a trampoline to handlers of the program, with registers saved. contract.h, "Handlers". */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * rax = tramp_handle_*(), rcx = the trampoline's frame, rdx = clock, r10 = third argument of XRay's. The function's
 * result in eax. Keeps everything but rax, rcx and flags: the C code uses general registers only, and
 * tramp_call_saved() below keeps the rest. The parameters: where the trampoline's frame has these registers of the
 * program; r10 of the program is the trampoline's own where the frame has none.
 *
 * What the trampoline wants back is kept in registers that C functions keep, and those come back from the struct: loads
 * cost nothing here, stores do.
 *
 *	stack	-128(%rbp) struct tramp_registers, 0 rbp
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

#define FIRST_16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define OTHER_16 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

/* Registers \kind 0 to 15 to the area at \at, \size bytes each, and back. */
.macro	STORE_ALL kind, at, size
	.irp	n, FIRST_16
	vmovups	%\kind\n, \at+\size*\n(%rsp)
	.endr
.endm

.macro	LOAD_ALL kind, at, size
	.irp	n, FIRST_16
	vmovups	\at+\size*\n(%rsp), %\kind\n
	.endr
.endm

#define OR3 0xfe		/* vpternlogq: any of three */

/* Not zero: one of zmm16 to zmm31 has a bit. Writes over zmm0 to zmm3. No mask register, which would be in use then. */
.macro	LOOK_AT_MORE
	vporq	%zmm16, %zmm17, %zmm0
	vporq	%zmm20, %zmm21, %zmm1
	vporq	%zmm24, %zmm25, %zmm2
	vporq	%zmm28, %zmm29, %zmm3
	vpternlogq $OR3, %zmm18, %zmm19, %zmm0
	vpternlogq $OR3, %zmm22, %zmm23, %zmm1
	vpternlogq $OR3, %zmm26, %zmm27, %zmm2
	vpternlogq $OR3, %zmm30, %zmm31, %zmm3
	vpternlogq $OR3, %zmm1, %zmm2, %zmm0
	vporq	%zmm3, %zmm0, %zmm0
	vextracti64x4 $1, %zmm0, %ymm1
	vpor	%ymm1, %ymm0, %ymm0
	vptest	%ymm0, %ymm0
.endm

/* Jumps where one of the mask registers has a bit. */
.macro	LOOK_AT_MASKS to
	kortestq %k0, %k1
	jnz	\to
	kortestq %k2, %k3
	jnz	\to
	kortestq %k4, %k5
	jnz	\to
	kortestq %k6, %k7
	jnz	\to
.endm

#define X87_CODES 0x4700	/* of the status word: condition codes, which no function keeps */
#define X87_EMPTY 0x4100	/* codes after fxam: the top register is empty, so the stack is */
#define X87_SIGN  0x0200	/* and its sign, which tells nothing */
#define X87_TOP   0x3800	/* of the status word: the top register. The first, where all are empty, or full */
#define X87_INVALID 0x01	/* an exception, or its mask: also what a push raises where the register is not empty */
#define X87_MASKS 0x3f		/* of the control word: no exception is raised */
#define FLAGS_OF_RESULTS 0x8d5	/* carry, parity, adjust, zero, sign, overflow: undefined over calls */
#define TRAP_FLAG	 0x100	/* what a debugger that steps over pushfq leaves there; popfq would trap later */

/*
 * void tramp_call_saved(event, function, argument, &event->vectors)
 *
 * The quick way, where only general, vector and mask registers and mxcsr are in use. Moving them to and fro takes 5 ns
 * for AVX, 15 for AVX-512, where xsavec and xrstor, of no component at all, take 75 to 100. Whether upper halves, zmm16
 * to zmm31 and masks are in use is told by looking at them: xgetbv takes 6 to 15 ns, and calls zmm16 to zmm31 in use
 * for good once a string function of libc was called. What was zeros comes back as unused, or is left alone; upper
 * halves, as code with SSE instructions likes it. The whole way otherwise: x87's stack is not empty (long double
 * results), an x87 exception is not masked, or a component of tramp_vectors.more is in use.
 *
 * Is x87's stack empty? By fxam of the top register, which takes some ns on AMD, but on Intel 140 where it is empty.
 * There (.Lpush), by pushing a number with the exception of that not masked: where a register was not empty, it is as
 * before, and the exception pending. With the top at 0, that is the register at the stack's bottom: code that pushes
 * and pops has it in use where it has any, and so has MMX, which has all.
 *
 *	stack	0(%rsp) struct tramp_saved, or the area of xsave, aligned to 64 ... -24(%rbp) flags, -16 r12, -8 rbx,
 *		0 rbp quick: ebx = x87's status without codes, r12d = AVX: upper halves are in use; AVX-512:
 *		SAVED_IN_USE whole: ebx = components, r12d = enum tramp_vectors_way
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
	mov	tramp_vectors+VECTORS_QUICK(%rip), %r9d
	test	%r9d, %r9d
	jz	.Lwhole
	fnstcw	SAVED_CONTROL(%rsp)
	stmxcsr	SAVED_MXCSR(%rsp)
	movzwl	SAVED_CONTROL(%rsp), %edx
	mov	%edx, %eax
	not	%eax
	test	$X87_MASKS, %eax
	jnz	.Lwhole				/* else the next instruction might raise a pending exception */
	cmpl	$0, tramp_vectors+VECTORS_PUSHES(%rip)
	jne	.Lpush
.Lfxam:
	fxam
	fnstsw	%ax
	movzwl	%ax, %ebx
	and	$~X87_SIGN & X87_CODES, %eax
	cmp	$X87_EMPTY, %eax
	jne	.Lwhole
	and	$~X87_CODES, %ebx
.Lempty:
	cmpl	$0, tramp_vectors+VECTORS_MORE(%rip)
	jne	.Lask_before
.Lquick:
	mov	%r9, SAVED_QUICK(%rsp)
	xor	%r12d, %r12d
	cmp	$QUICK_ZMM, %r9d
	je	.Lstore_zmm
	STORE_ALL ymm, 0, 32
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
	vptest	%xmm0, %xmm0
	setnz	%r12b
.Lcall:
	vzeroupper
	call	*%r8
	cmpl	$0, tramp_vectors+VECTORS_MORE(%rip)
	jne	.Lask_behind
.Lunused:
	stmxcsr	SAVED_MXCSR_BEHIND(%rsp)
	mov	SAVED_MXCSR(%rsp), %eax
	cmp	%eax, SAVED_MXCSR_BEHIND(%rsp)
	jne	.Lmxcsr
.Lcontrol:
	fnstcw	SAVED_CONTROL_BEHIND(%rsp)
	movzwl	SAVED_CONTROL_BEHIND(%rsp), %eax
	cmp	%ax, SAVED_CONTROL(%rsp)
	jne	.Lx87				/* and no fxam: an exception may be pending */
	cmpl	$0, tramp_vectors+VECTORS_PUSHES(%rip)
	je	.Lfxam_behind
	test	$X87_TOP, %ebx
	jnz	.Lfxam_behind
	fnstsw	%ax
	and	$~X87_CODES & 0xffff, %eax
	cmp	%eax, %ebx
	jne	.Lx87
	emms					/* where a handler left numbers. It makes the top 0 */
.Lvectors:
	cmpl	$QUICK_ZMM, SAVED_QUICK(%rsp)
	je	.Lload_zmm
	test	%r12d, %r12d
	jz	1f
	LOAD_ALL ymm, 0, 32
	jmp	.Lflags
1:	vzeroupper
	LOAD_ALL xmm, 0, 32
.Lflags:
	lea	-24(%rbp), %rsp
	pushfq					/* popfq takes 6 ns */
	pop	%rax
	xor	(%rsp), %rax
	test	$~(FLAGS_OF_RESULTS | TRAP_FLAG), %eax
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
	andq	$~TRAP_FLAG, (%rsp)
	popfq
	jmp	.Lback

.Lstore_zmm:
	STORE_ALL zmm, SAVED_ZMM, 64
	vpternlogq $OR3, %zmm1, %zmm2, %zmm0
	vpternlogq $OR3, %zmm4, %zmm5, %zmm3
	vpternlogq $OR3, %zmm7, %zmm8, %zmm6
	vpternlogq $OR3, %zmm10, %zmm11, %zmm9
	vpternlogq $OR3, %zmm13, %zmm14, %zmm12
	vpternlogq $OR3, %zmm3, %zmm6, %zmm0
	vpternlogq $OR3, %zmm12, %zmm15, %zmm9
	vporq	%zmm9, %zmm0, %zmm0
	vextracti64x4 $1, %zmm0, %ymm1
	vextracti128 $1, %ymm0, %xmm0
	vpor	%ymm1, %ymm0, %ymm0
	vptest	%ymm0, %ymm0
	setnz	%r12b				/* TRAMP_USED_UPPER */
	LOOK_AT_MORE
	jz	1f
	or	$USED_MORE, %r12d
	.irp	n, OTHER_16
	vmovups	%zmm\n, SAVED_ZMM+64*\n(%rsp)
	.endr
1:	LOOK_AT_MASKS 2f
	mov	%r12d, SAVED_IN_USE(%rsp)
	jmp	.Lcall
2:	or	$USED_MASKS, %r12d
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\n, SAVED_MASKS+8*\n(%rsp)
	.endr
	mov	%r12d, SAVED_IN_USE(%rsp)
	jmp	.Lcall

.Lload_zmm:
	test	$USED_MORE, %r12b
	jz	1f
	.irp	n, OTHER_16
	vmovups	SAVED_ZMM+64*\n(%rsp), %zmm\n
	.endr
	jmp	2f
1:	LOOK_AT_MORE
	jz	2f
	.irp	n, OTHER_16
	vpxorq	%zmm\n, %zmm\n, %zmm\n
	.endr
2:	test	$USED_MASKS, %r12b
	jz	3f
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	SAVED_MASKS+8*\n(%rsp), %k\n
	.endr
	jmp	5f
3:	LOOK_AT_MASKS 4f
	jmp	5f
4:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	kxorq	%k\n, %k\n, %k\n
	.endr
5:	test	$USED_UPPER, %r12b
	jz	6f
	LOAD_ALL zmm, SAVED_ZMM, 64
	jmp	.Lflags
6:	vzeroupper
	LOAD_ALL xmm, SAVED_ZMM, 64
	jmp	.Lflags

.Lpush:
	fnstsw	%ax
	movzwl	%ax, %ebx
	test	$X87_TOP | X87_INVALID, %ebx
	jnz	.Lfxam				/* not empty, as a rule; or the exception would be raised at once */
	and	$~X87_CODES, %ebx
	xor	$X87_INVALID, %edx
	mov	%dx, SAVED_CONTROL_BEHIND(%rsp)
	fldcw	SAVED_CONTROL_BEHIND(%rsp)
	fld1
	fnstsw	%ax
	test	$X87_INVALID, %al
	jnz	1f
	fstp	%st(0)
	fldcw	SAVED_CONTROL(%rsp)
	jmp	.Lempty
	/* Nothing was pushed. Control and status as before, but for codes. */
1:	fnstenv	SAVED_X87(%rsp)
	fnclex
	movzwl	SAVED_CONTROL(%rsp), %eax
	mov	%ax, SAVED_X87(%rsp)
	mov	%bx, SAVED_X87+4(%rsp)
	fldenv	SAVED_X87(%rsp)
	jmp	.Lwhole

.Lfxam_behind:
	fxam
	fnstsw	%ax
	and	$~X87_SIGN & 0xffff, %eax
	lea	X87_EMPTY(%rbx), %ecx
	cmp	%eax, %ecx
	je	.Lvectors
.Lx87:
	/* Its stack was empty before, its exceptions masked. */
	fninit
	fnstenv	SAVED_X87(%rsp)
	movzwl	SAVED_CONTROL(%rsp), %eax
	mov	%ax, SAVED_X87(%rsp)
	mov	%bx, SAVED_X87+4(%rsp)
	fldenv	SAVED_X87(%rsp)
	jmp	.Lvectors
.Lmxcsr:
	ldmxcsr	SAVED_MXCSR(%rsp)
	jmp	.Lcontrol

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
