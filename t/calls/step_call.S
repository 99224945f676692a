/* SPDX-License-Identifier: MIT */
/*
 * For t/calls/step.c: calls with every register known, bodies that note every register, and marks where the tracer
 * takes over. A struct registers: 16 general ones by their number (rsp's place stays unused), then xmm0 to xmm15.
 */
	.macro	EACH_XMM do, where
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\do	\where, \n
	.endr
	.endm
	.macro	LOAD_XMM where, n
	movdqu	\where+128+16*\n(%rip), %xmm\n
	.endm
	.macro	STORE_XMM where, n
	movdqu	%xmm\n, \where+128+16*\n(%rip)
	.endm

	.macro	STORE_ALL where
	mov	%rax, \where+0(%rip)
	mov	%rcx, \where+8(%rip)
	mov	%rdx, \where+16(%rip)
	mov	%rbx, \where+24(%rip)
	mov	%rbp, \where+40(%rip)
	mov	%rsi, \where+48(%rip)
	mov	%rdi, \where+56(%rip)
	mov	%r8, \where+64(%rip)
	mov	%r9, \where+72(%rip)
	mov	%r10, \where+80(%rip)
	mov	%r11, \where+88(%rip)
	mov	%r12, \where+96(%rip)
	mov	%r13, \where+104(%rip)
	mov	%r14, \where+112(%rip)
	mov	%r15, \where+120(%rip)
	EACH_XMM STORE_XMM, \where
	.endm

	/* Registers that a function may change. */
	.macro	LOAD_SCRATCH where
	EACH_XMM LOAD_XMM, \where
	mov	\where+0(%rip), %rax
	mov	\where+8(%rip), %rcx
	mov	\where+16(%rip), %rdx
	mov	\where+48(%rip), %rsi
	mov	\where+56(%rip), %rdi
	mov	\where+64(%rip), %r8
	mov	\where+72(%rip), %r9
	mov	\where+80(%rip), %r10
	mov	\where+88(%rip), %r11
	.endm

	.text
	.globl	step_code_start, step_code_end
step_code_start:

/*
 * void step_call(void): calls step_target with step_before in the registers, stores the registers after the call in
 * step_after.
 */
	.globl	step_call
	.type	step_call, @function
step_call:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	LOAD_SCRATCH step_before
	mov	step_before+24(%rip), %rbx
	mov	step_before+40(%rip), %rbp
	mov	step_before+96(%rip), %r12
	mov	step_before+104(%rip), %r13
	mov	step_before+112(%rip), %r14
	mov	step_before+120(%rip), %r15
	call	*step_target(%rip)
	STORE_ALL step_after
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* Notes its registers in step_inside and returns with step_result in the registers that it may change. */
	.globl	step_body
	.type	step_body, @function
step_body:
	STORE_ALL step_inside
	LOAD_SCRATCH step_result
	ret

	.globl	step_tail
step_tail:
	jmp	*step_tail_target(%rip)

/* Comes to a probe, with flags that are known, and the direction flag set. */
	.globl	step_probe, step_probe_back
	.type	step_probe, @function
step_probe:
	cmp	%rcx, %rax
	std
	pushfq
	popq	step_flags(%rip)
	jmp	*step_probe_stub(%rip)
step_probe_back:
	pushfq
	popq	step_flags_inside(%rip)
	cld
	jmp	step_body

/* The handlers' probe. */
	.globl	step_handler_probe, step_handler_probe_back
step_handler_probe:
	jmp	*step_handler_stub(%rip)
step_handler_probe_back:
	ret

/* Acts as patched sleds do, but jumps to the stub through memory. */
	.globl	step_xray
step_xray:
	mov	$0, %r10d
	call	*step_xray_entry(%rip)
	call	step_body
	mov	$0, %r10d
	jmp	*step_xray_exit(%rip)

	.globl	step_xray_jump
step_xray_jump:
	mov	$1, %r10d
	call	*step_xray_entry(%rip)
	mov	$1, %r10d
	call	*step_xray_tail(%rip)
	jmp	step_body

	.globl	step_xray_handler
step_xray_handler:
	mov	$2, %r10d
	call	*step_xray_entry(%rip)
	mov	$2, %r10d
	jmp	*step_xray_exit(%rip)

	.globl	step_begin, step_end, step_handled
step_begin:
	int3
	ret
step_end:
	int3
	ret
step_handled:
	int3
	ret
step_code_end:

	.section .note.GNU-stack, "", @progbits
