/* SPDX-License-Identifier: MIT */
/*
 * control_entry: where `xaudit ctl` sends a stopped thread (runtime/control.h).
 *
 *	in	rdi = address of the struct control_frame, below the thread's own stack pointer and red zone; rsp =
 *		top of our stack
 *	out	all registers as in the frame, and the mask of signals; the red zone is untouched
 *	clobbers nothing that the frame does not bring back; vector and x87 registers are not used (control_run is
 *	built so)
 *
 *	the thread's stack, while we go back:	 0 mask   8 flags   16 r15 ... 128 rax   136 rip   144 red zone   272
 *						the thread's rsp
 *
 * The unwind information says that the thread was interrupted where the frame says.
 */
#include "x86_64/contract.h"
#include "x86_64/offsets.h"

#define RED_ZONE 128
#define CFA	 (FRAME_SIZE + RED_ZONE)

	.text
	.p2align 4
	.globl	control_entry
	.hidden	control_entry
	.type	control_entry, @function
control_entry:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rdi, CFA
	.cfi_offset %r15, FRAME_R15 - CFA
	.cfi_offset %r14, FRAME_R14 - CFA
	.cfi_offset %r13, FRAME_R13 - CFA
	.cfi_offset %r12, FRAME_R12 - CFA
	.cfi_offset %r11, FRAME_R11 - CFA
	.cfi_offset %r10, FRAME_R10 - CFA
	.cfi_offset %r9, FRAME_R9 - CFA
	.cfi_offset %r8, FRAME_R8 - CFA
	.cfi_offset %rdi, FRAME_RDI - CFA
	.cfi_offset %rsi, FRAME_RSI - CFA
	.cfi_offset %rbp, FRAME_RBP - CFA
	.cfi_offset %rbx, FRAME_RBX - CFA
	.cfi_offset %rdx, FRAME_RDX - CFA
	.cfi_offset %rcx, FRAME_RCX - CFA
	.cfi_offset %rax, FRAME_RAX - CFA
	.cfi_offset %rip, FRAME_RIP - CFA
	mov	%rdi, %rbx
	.cfi_def_cfa_register %rbx
	cld
	movl	$1, control_block+CONTROL_BLOCK_RUNNING(%rip)
	call	control_run
	movl	$0, control_block+CONTROL_BLOCK_RUNNING(%rip)
	/* from here on a handler may come, and finds itself on the thread's own stack */
	mov	%rbx, %rsp
	.cfi_def_cfa %rsp, CFA
	mov	$NR_RT_SIGPROCMASK, %eax
	mov	$HOW_SETMASK, %edi
	mov	%rsp, %rsi			/* frame.mask */
	xor	%edx, %edx
	mov	$8, %r10d
	movabs	$CONTROL_MAGIC_NUMBER, %r9
	syscall
	lea	FRAME_FLAGS(%rsp), %rsp
	.cfi_adjust_cfa_offset -FRAME_FLAGS
	popf
	.cfi_adjust_cfa_offset -8
.macro	TAKE	register
	pop	\register
	.cfi_adjust_cfa_offset -8
	.cfi_same_value \register
.endm
	.irp	register, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax
	TAKE	%\register
	.endr
	ret	$RED_ZONE
	.cfi_endproc
	.globl	control_entry_end
	.hidden	control_entry_end
control_entry_end:
	.size	control_entry, . - control_entry

	.section .note.GNU-stack, "", @progbits
