/* SPDX-License-Identifier: MIT */
/*
 * remote_wait: where a stopped thread makes a system call again whose timeout would count anew, with the time that was
 * left (remote.h). Its registers are those of the call, but for the one that has the timeout.
 *
 *	in	rsp = struct remote_waiting, which lies below the thread's own red zone; rax and others as for the call
 *	out	as after the call, in the thread's own code: rcx as the processor leaves it, r11 likewise, and the
 *		registers that may have the timeout as they were. The red zone is untouched
 *
 * A handler that comes meanwhile finds the thread on its own stack. The unwind information says that it was interrupted
 * behind its own system call.
 */
#include "x86_64/offsets.h"

#define RED_ZONE 128
#define CFA	 (WAITING_SIZE + RED_ZONE)

	.text
	.p2align 4
	.globl	remote_wait
	.hidden	remote_wait
	.type	remote_wait, @function
remote_wait:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, CFA
	.cfi_offset %rip, WAITING_PC - CFA
	.cfi_offset %rdx, WAITING_RDX - CFA
	.cfi_offset %r8, WAITING_R8 - CFA
	.cfi_offset %r10, WAITING_R10 - CFA
	syscall
	mov	WAITING_RDX(%rsp), %rdx
	mov	WAITING_R8(%rsp), %r8
	mov	WAITING_R10(%rsp), %r10
	mov	WAITING_PC(%rsp), %rcx
	.cfi_same_value %rdx
	.cfi_same_value %r8
	.cfi_same_value %r10
	.cfi_register %rip, %rcx
	lea	CFA(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp	*%rcx
	.cfi_endproc
	.size	remote_wait, . - remote_wait

	.section .note.GNU-stack, "", @progbits
