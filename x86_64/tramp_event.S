/* SPDX-License-Identifier: MIT */
/*
 * Trampolines of event sleds. Called by the sled's stub (stub.h), in the middle of a function:
 *
 *	stack	 0 return into the stub   8 size   16 data   24 type, if typed   then the address after the sled,
 *		then the red zone, then the function's own stack, aligned to 8 and no more
 *	out	everything as on entry: all registers, and flags too, which may be live here
 *
 * To unwinders the caller is the function, at the address after the sled, with its stack pointer above the red zone:
 * that is the CFA, and the stub's frame does not exist.
 */
#include "x86_64/tramp_pieces.h"

	.text

/* From %rsp as the stub's call leaves it to the CFA. */
#define TO_CFA(arguments) (8 + 8 * (arguments) + 8 + RED_ZONE)

.macro	EVENT_START name, arguments
	.p2align 4
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.cfi_def_cfa_offset TO_CFA(\arguments)
	.cfi_offset %rip, -(RED_ZONE + 8)
.endm

.macro	EVENT_END name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro	KEEP	reg, at
	push	\reg
	.cfi_rel_offset \reg, \at
.endm

.macro	TAKE	reg
	pop	\reg
	.cfi_restore \reg
.endm

/*
 * Nothing of it is time-critical beside the clock that C reads. C uses general registers only, so the others need no
 * care.
 *
 *	stack	-72(%rbp) r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax, 0 rbp   8 flags   16 return into the stub   24
 *		size   32 data   40 type
 */
.macro	EVENT	name, arguments
	EVENT_START tramp_\name, \arguments
	pushfq
	.cfi_adjust_cfa_offset 8
	/* a debugger that steps over pushfq leaves its trap flag there; popfq would trap in its absence */
	andq	$~0x100, (%rsp)
	FRAME
	KEEP	%rax, -8
	KEEP	%rcx, -16
	KEEP	%rdx, -24
	KEEP	%rsi, -32
	KEEP	%rdi, -40
	KEEP	%r8, -48
	KEEP	%r9, -56
	KEEP	%r10, -64
	KEEP	%r11, -72
.if	\arguments == 3
	mov	40(%rbp), %rdi
	mov	32(%rbp), %rsi
	mov	24(%rbp), %rdx
.else
	mov	32(%rbp), %rdi
	mov	24(%rbp), %rsi
.endif
	and	$-16, %rsp
	cld
	call	tramp_\name\()_event
	lea	-72(%rbp), %rsp
	.irp	register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	TAKE	%\register
	.endr
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, TO_CFA(\arguments) + 8
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	EVENT_END tramp_\name

	/* Nothing is recorded. */
	EVENT_START tramp_\name\()_pass, \arguments
	ret
	EVENT_END tramp_\name\()_pass
.endm

	EVENT	custom, 2
	EVENT	typed, 3

.macro	EVENT_GATE name, event, arguments
	EVENT_START tramp_gate_\name, \arguments
	endbr64
	jmp	*dispatch_table+\event(%rip)
	EVENT_END tramp_gate_\name
.endm

	EVENT_GATE custom, EVENT_CUSTOM, 2
	EVENT_GATE typed, EVENT_TYPED, 3

	.section .note.GNU-stack, "", @progbits
