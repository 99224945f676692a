/* SPDX-License-Identifier: MIT */
/* The ways from a trampoline to C, the trampolines without an event, and the gates. */
#include "x86_64/tramp_pieces.h"

	.text

/*
 * rax = C function's argument, r10 = its second one and rdx its third, if it has them, rcx = function; result in rax.
 * Keeps everything but rax, rcx, rdx and flags. Aligns the stack.
 */
	.p2align 4
	.globl	slow_call
	.hidden	slow_call
	.type	slow_call, @function
slow_call:
	.cfi_startproc
	FRAME
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rax, %rdi
	mov	%r10, %rsi
	and	$-16, %rsp
	cld
	call	*%rcx
	lea	-48(%rbp), %rsp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	slow_call, . - slow_call

/* The clock of events into rdx:rax, as rdtsc would. Keeps rcx too. */
	.p2align 4
	.globl	read_clock
	.hidden	read_clock
	.type	read_clock, @function
read_clock:
	.cfi_startproc
	SAVE	%rcx
	lea	tramp_clock(%rip), %rcx
	call	slow_call
	mov	%rax, %rdx
	shr	$32, %rdx
	mov	%eax, %eax
	RESTORE	%rcx
	ret
	.cfi_endproc
	.size	read_clock, . - read_clock

/* ---- calls that tell of frames which never return ---- */

/*
 * Stack as tramp_intercept's; afterwards, at .Lgo_on, 0 rdx 8 rcx 16 rax 24 body 32 word 40 A (slot S). landed: what
 * lies at or below S was unwound by an exception. jump: rdi = jmp_buf. caller: S may hold our label. prctl: edi, esi,
 * rdx = its first arguments. syscall: edi = number, esi, rdx, rcx = the call's first arguments. limit: below. lock: a
 * call of mlockall(). rights: word = the number of a system call, edi, esi, edx = its first arguments.
 */

/* Tells of a system call that is about to be made: its number, three arguments. Clobbers rax, rcx, rdx. */
.macro	RIGHTS	number, first, second, third
	lea	-16(%rsp), %rsp
	.cfi_adjust_cfa_offset 16
	mov	\number, (%rsp)
	mov	\first, 4(%rsp)
	mov	\second, 8(%rsp)
	mov	\third, 12(%rsp)
	mov	%rsp, %rax
	SLOW	tramp_slow_rights
	lea	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
.endm

	.p2align 4
	.globl	tramp_landed
	.hidden	tramp_landed
	.type	tramp_landed, @function
tramp_landed:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax, %rcx, %rdx
	SELF	.Lgo_on				/* no record, no open calls */
	STACK	%rcx, .Lgo_on
	lea	40(%rsp), %rax
	cmp	%rax, STACK_TOP(%rcx)
	ja	.Lgo_on
	SLOW	tramp_slow_landed
	jmp	.Lgo_on
	.globl	tramp_jump
	.hidden	tramp_jump
tramp_jump:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	SELF	.Lgo_on
	mov	%rdi, %rax
	SLOW	tramp_slow_jump
	jmp	.Lgo_on
	.globl	tramp_caller
	.hidden	tramp_caller
tramp_caller:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	IF_LABEL 40(%rsp), %rax, .Lcalled_by_us, all
	jmp	.Lgo_on
.Lcalled_by_us:
	lea	40(%rsp), %rax
	SLOW	tramp_slow_caller
	jmp	.Lgo_on
	.globl	tramp_prctl
	.hidden	tramp_prctl
tramp_prctl:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	cmp	$SET_SECCOMP, %edi
	je	.Lseccomp
	cmp	$SET_TSC, %edi
	jne	.Lgo_on
	cmp	$TSC_SIGSEGV, %esi
	jne	.Lgo_on
	mov	%rsp, %rax
	SLOW	tramp_slow_prctl
.Lgo_on:
	RESTORE	%rdx, %rcx, %rax
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_adjust_cfa_offset 40
/* By prctl: esi = mode, rdx = filter. A null filter is only a question. */
.Lseccomp:
	cmp	$SECCOMP_STRICT, %esi
	je	.Lstrict
	test	%rdx, %rdx
	jz	.Lgo_on
.Lconfined:
	cmpl	$0, tramp_confined(%rip)	/* the filter that is there may kill */
	jne	.Lgo_on
	mov	%rsp, %rax
	SLOW	tramp_slow_confine
	jmp	.Lgo_on
.Lstrict:
	cmpl	$0, tramp_confined(%rip)	/* the kernel refuses it then */
	jne	.Lgo_on
	SLOW	tramp_slow_strict
	jmp	.Lgo_on
	.globl	tramp_syscall
	.hidden	tramp_syscall
tramp_syscall:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	cmp	$NR_PRCTL, %edi
	je	.Lprctl
	cmp	$NR_SECCOMP, %edi
	jne	.Lrights_call
	cmp	$SET_MODE_STRICT, %esi
	je	.Lmode_strict
	cmp	$SET_MODE_FILTER, %esi
	jne	.Lgo_on
	test	%rcx, %rcx			/* the filter */
	jnz	.Lconfined
	jmp	.Lgo_on
/* With flags (edx) or a filter (rcx) it is a question, which the kernel answers by an error: libseccomp asks so. */
.Lmode_strict:
	test	%edx, %edx
	jnz	.Lgo_on
	test	%rcx, %rcx
	jnz	.Lgo_on
	jmp	.Lstrict
.Lprctl:
	cmp	$SET_SECCOMP, %esi
	jne	.Lgo_on
	cmp	$SECCOMP_STRICT, %edx
	je	.Lstrict
	test	%rcx, %rcx
	jnz	.Lconfined
	jmp	.Lgo_on
/* By syscall(): a number that tramp_rights is for? */
.Lrights_call:
.irp	number, NR_SETUID, NR_SETREUID, NR_SETRESUID, NR_CAPSET, NR_CHROOT, NR_UNSHARE, NR_SETNS, \
	NR_FORK, NR_CLONE, NR_CLONE3
	cmp	$\number, %edi
	je	.Lgives_up
.endr
	jmp	.Lgo_on
.Lgives_up:
	RIGHTS	%edi, %esi, %edx, %ecx
	jmp	.Lgo_on
	.globl	tramp_rights
	.hidden	tramp_rights
tramp_rights:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	mov	32(%rsp), %eax
	RIGHTS	%eax, %edi, %esi, %edx
	jmp	.Lgo_on
	.globl	tramp_limit
	.hidden	tramp_limit
/* setrlimit: edi = which, rsi = the limit. prlimit: esi = which, rdx = the limit; 0: only a question. */
tramp_limit:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	mov	%rsi, %rax
	cmp	$LIMIT_ADDRESSES, %edi
	je	.Lshrink
	cmp	$LIMIT_FILES, %edi
	je	.Lreach
	cmp	$LIMIT_DESCRIPTORS, %edi
	je	.Ldescriptors
	mov	%rdx, %rax
	test	%rax, %rax
	jz	.Lgo_on
	cmp	$LIMIT_ADDRESSES, %esi
	je	.Lshrink
	cmp	$LIMIT_FILES, %esi
	je	.Lreach
	cmp	$LIMIT_DESCRIPTORS, %esi
	jne	.Lgo_on
.Ldescriptors:
	SLOW	tramp_slow_descriptors
	jmp	.Lgo_on
	.globl	tramp_lock
	.hidden	tramp_lock
tramp_lock:
	.cfi_adjust_cfa_offset -24
	SAVE	%rax, %rcx, %rdx
	xor	%eax, %eax
.Lshrink:
	SLOW	tramp_slow_shrink
	jmp	.Lgo_on
.Lreach:
	SLOW	tramp_slow_reach
	jmp	.Lgo_on
	.cfi_endproc
	.size	tramp_landed, . - tramp_landed

/*
 * _Unwind_GetCFA(), of a personality routine: that of a function which has called a traced one would get the CFA that
 * we declare for tramp_return (tramp_intercept.S), which is 1 too much. Every other CFA is even.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address
 */
	.p2align 4
	.globl	tramp_cfa
	.hidden	tramp_cfa
	.type	tramp_cfa, @function
tramp_cfa:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	lea	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	call	*8(%rsp)
	and	$-2, %rax
	lea	24(%rsp), %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size	tramp_cfa, . - tramp_cfa

/*
 * A call that executes a program: tramp_slow_exec() may make it, by way of the body.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address; rdi, rsi, rdx, rcx, r8, r9, al: the arguments
 *	out	at the body, all registers as on entry but r10, r11; or at the return address, rax = the result
 *	stack	at the call: struct tramp_exec
 */
	.p2align 4
	.globl	tramp_exec
	.hidden	tramp_exec
	.type	tramp_exec, @function
tramp_exec:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	SAVE	%rax, %r9, %r8, %rcx, %rdx, %rsi, %rdi
	mov	%rsp, %rdi
	call	tramp_slow_exec
	cmp	$ANSWER_ENDED, %eax
	RESTORE	%rdi, %rsi, %rdx, %rcx, %r8, %r9, %rax
	lea	16(%rsp), %rsp			/* drops body and word; the flags stay */
	.cfi_adjust_cfa_offset -16
	je	1f
	jmp	*-16(%rsp)
1:	ret
	.cfi_endproc
	.size	tramp_exec, . - tramp_exec

/* ---- gates ---- */

/* cfa: from %rsp to above the slot of the return address into the program, as the stubs leave the stack. */
.macro	GATE	name, event, cfa
	.p2align 4
	.globl	tramp_gate_\name
	.hidden	tramp_gate_\name
	.type	tramp_gate_\name, @function
tramp_gate_\name:
	.cfi_startproc
	.cfi_def_cfa_offset \cfa
	endbr64
	jmp	*dispatch_table+\event(%rip)
	.cfi_endproc
	.size	tramp_gate_\name, . - tramp_gate_\name
.endm

	GATE	intercept, EVENT_INTERCEPT, 24
	GATE	point, EVENT_POINT, 24
	GATE	xray_entry, EVENT_XRAY_ENTRY, 8	/* the sled's call pushed an address in the object */
	GATE	xray_exit, EVENT_XRAY_EXIT, 8
	GATE	xray_tail, EVENT_XRAY_TAIL, 8
	GATE	landed, EVENT_LANDED, 24
	GATE	jump, EVENT_JUMP, 24
	GATE	caller, EVENT_CALLER, 24
	GATE	cfa, EVENT_CFA, 24
	GATE	prctl, EVENT_PRCTL, 24
	GATE	syscall, EVENT_SYSCALL, 24
	GATE	limit, EVENT_LIMIT, 24
	GATE	lock, EVENT_LOCK, 24
	GATE	rights, EVENT_RIGHTS, 24
	GATE	exec, EVENT_EXEC, 24

	.section .note.GNU-stack, "", @progbits
