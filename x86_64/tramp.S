/* SPDX-License-Identifier: MIT */
/*
 * The trampolines; tramp.h tells what they are for. Common contract:
 *
 *	in	stack as drawn at each; XRay: r10d = the event's word
 *	out	all registers as on entry, flags undefined (no ABI passes anything in them over a call or a return),
 *		XRay: r10 undefined, as its sleds write it anyway
 *
 * Signal handlers may interrupt anywhere and run traced functions on the same record: slots of events are reserved by one
 * xadd; `top` is stored after the mirror entry that it names is complete; nothing that lies above %rsp-128 is touched by the kernel.
 */
#include "x86_64/offsets.h"
#include "x86_64/tramp.h"

	.text

/* ---- pieces ---- */

/* rcx = this thread's record; jumps to \none when there is none. */
.macro	SELF	none
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	test	%rcx, %rcx
	jz	\none
.endm

/* rdx:rax = clock, whole. */
.macro	CLOCK	clock
.ifc	\clock, tsc
	rdtsc
.else
	call	read_clock
.endif
.endm

/*
 * Writes one event. r10 = word << 32 | low half of the clock, rax:rdx = low and high half as CLOCK left them, rcx = record.
 * Clobbers rax, rdx. Jumps to \slow when the span changed or the chunk is full; nothing was written then.
 */
.macro	WRITE	slow
	add	%eax, %eax			/* edx = clock >> 31, as 32 bits: its change */
	adc	%edx, %edx			/* keeps signed 32-bit differences unambiguous */
	cmp	%edx, STATE_SPAN(%rcx)
	jne	\slow
	mov	$8, %eax
	xadd	%rax, STATE_CURSOR(%rcx)	/* no lock: only our own signal handlers compete */
	test	%rax, STATE_CHUNK_BIT(%rcx)
	jz	\slow
	mov	%r10, (%rax)
	addq	$8, STATE_WRITTEN(%rcx)
.endm

/* Calls a C function off the fast path: rax = argument, result in eax. Clobbers rcx, rdx. */
.macro	SLOW	function
	lea	\function(%rip), %rcx
	call	slow_call
.endm

/*
 * rax = C function's argument, rcx = function; result in rax. Keeps everything but rax, rcx, rdx and flags. Aligns the stack.
 */
	.p2align 4
	.type	slow_call, @function
slow_call:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rax, %rdi
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

/* CLOCK_MONOTONIC into rdx:rax, as rdtsc would. Keeps rcx too. */
	.p2align 4
	.type	read_clock, @function
read_clock:
	.cfi_startproc
	push	%rcx
	.cfi_adjust_cfa_offset 8
	lea	tramp_clock(%rip), %rcx
	call	slow_call
	mov	%rax, %rdx
	shr	$32, %rdx
	mov	%eax, %eax
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	read_clock, . - read_clock

/* ---- intercepted calls ---- */

.macro	INTERCEPT clock
/*
 * Entry of a function whose return is intercepted.
 *
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address A; that is slot S
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 body  48 word  56 A (slot S)
 */
	.p2align 6
	.globl	tramp_intercept_\clock
	.hidden	tramp_intercept_\clock
	.type	tramp_intercept_\clock, @function
tramp_intercept_\clock:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%r10
	.cfi_adjust_cfa_offset 8
	push	%r11
	.cfi_adjust_cfa_offset 8
.Lenter_\clock:
	SELF	.Lenter_slow_\clock
	lea	56(%rsp), %rdx			/* S */
	mov	%rdx, %rax
	sub	STATE_STACK_LOW(%rcx), %rax
	cmp	STATE_STACK_SIZE(%rcx), %rax
	jae	.Lenter_slow_\clock
	mov	(%rdx), %r10			/* A */
	lea	tramp_return_\clock(%rip), %rax
	cmp	%rax, %r10
	je	.Ltail_\clock
	mov	STATE_TOP(%rcx), %rax
	sub	%rdx, %rax
	jbe	.Lenter_slow_\clock		/* open calls at or below S are dead */
	movabs	$MIRROR_BASE, %r11
	lea	(%r11,%rdx,2), %r11		/* mirror entry of S */
	mov	%r10, ENTRY_ADDRESS(%r11)
	shl	$29, %rax			/* distance in words, in the upper half */
	mov	48(%rsp), %r10d
	or	%r10, %rax
	mov	%rax, ENTRY_WORD(%r11)
	mov	%rdx, STATE_TOP(%rcx)		/* after the entry is whole: a handler may look at it now */
.Lenter_event_\clock:
	mov	48(%rsp), %r10
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lenter_full_\clock
.Lenter_go_\clock:
	pop	%r11
	.cfi_adjust_cfa_offset -8
	pop	%r10
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	.cfi_remember_state
	lea	24(%rsp), %rsp			/* drop body, word, A; the red zone keeps the first for the call */
	/*
	 * From here to the return this frame is empty, so its CFA would equal its callee's, and libgcc takes two frames of
	 * one CFA for one. Declare CFA = rsp+1, restore rsp as CFA-1, and find the return address at the mirror entry
	 * of S = CFA-9: MIRROR_BASE + 2*(CFA-9).
	 */
	.cfi_def_cfa_offset 1
	.cfi_escape 0x16, 7, 3, 0x09, 0xff, 0x22
	.cfi_escape 0x10, 16, 14, 0x39, 0x1c, 0x31, 0x24, 0x0e, 0, 0, 0, 0, 0, 0x70, 0xff, 0xff, 0x22
	call	*-24(%rsp)
/*
 * The body returns here, with its slot popped: S = %rsp-8.
 *
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 A again (slot S)
 */
	.globl	tramp_return_\clock
	.hidden	tramp_return_\clock
tramp_return_\clock:
	lea	-8(%rsp), %rsp
	/* The usual CFA again, S+8; the return address stays in the mirror until it is back in S. */
	.cfi_def_cfa_offset 8
	.cfi_restore 7
	.cfi_escape 0x10, 16, 14, 0x38, 0x1c, 0x31, 0x24, 0x0e, 0, 0, 0, 0, 0, 0x70, 0xff, 0xff, 0x22
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%r10
	.cfi_adjust_cfa_offset 8
	push	%r11
	.cfi_adjust_cfa_offset 8
.Lleave_\clock:
	CLOCK	\clock				/* first: what follows is our time, not the function's */
	mov	%eax, %r10d
	lea	40(%rsp), %r11			/* S */
	SELF	.Lleave_off_\clock
	cmp	%r11, STATE_TOP(%rcx)
	jne	.Lleave_slow_\clock
	movabs	$MIRROR_BASE, %rcx
	lea	(%rcx,%r11,2), %rcx		/* mirror entry of S */
	push	%rdx
	.cfi_adjust_cfa_offset 8
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)			/* A is back in its slot */
	mov	ENTRY_WORD(%rcx), %rdx		/* and link in the upper half */
	mov	%rdx, %rcx
	shr	$32, %rcx
	lea	(%r11,%rcx,8), %r11		/* the next outer call's slot */
	xor	$ENTRY_TO_EXIT, %edx		/* clears the upper half */
	shl	$32, %rdx
	or	%rdx, %r10
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	mov	%r11, STATE_TOP(%rcx)
	WRITE	.Lleave_full_\clock
.Lleave_go_\clock:
	pop	%r11
	.cfi_adjust_cfa_offset -8
	pop	%r10
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret					/* predicted: the first call's prediction is still on top */

/* -- off the fast path; stack as after the pushes at the return -- */
	.cfi_adjust_cfa_offset 40
.Lleave_slow_\clock:
	mov	%r11, %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lleave_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lleave_off_\clock
	/* Not known as open: record its end, leave top alone. */
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %r11
	lea	(%rcx,%r11,2), %rcx
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)
	mov	ENTRY_WORD(%rcx), %r10d
	xor	$ENTRY_TO_EXIT, %r10d
	shl	$32, %r10
	jmp	.Lleave_retry_\clock
.Lleave_full_\clock:
	/* r10 holds word and a clock that may be old: read it again. */
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Lleave_go_\clock
	shr	$32, %r10
	shl	$32, %r10
.Lleave_retry_\clock:
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lleave_full_\clock
	jmp	.Lleave_go_\clock
.Lleave_off_\clock:
	movabs	$MIRROR_BASE, %rcx
	lea	40(%rsp), %r11
	lea	(%rcx,%r11,2), %rcx
	mov	ENTRY_ADDRESS(%rcx), %rdx
	mov	%rdx, (%r11)
	jmp	.Lleave_go_\clock

/* -- off the fast path; stack as after the pushes at the entry -- */
	.cfi_restore_state
	.cfi_adjust_cfa_offset 40
.Lenter_slow_\clock:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	/* No mirror to be had: an entry alone. */
	movl	$0, 52(%rsp)
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_event_\clock
.Lenter_full_\clock:
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Lenter_go_\clock
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	jmp	.Lenter_event_\clock

/*
 * S holds our own return label: the function whose open call lies there tail-jumped to this one. Its A is safe in the mirror;
 * its call ends, this one takes its place, and the body is jumped to.
 */
.Ltail_\clock:
	cmp	%rdx, STATE_TOP(%rcx)
	jne	.Ltail_slow_\clock
	movabs	$MIRROR_BASE, %r11
	lea	(%r11,%rdx,2), %r11
	mov	ENTRY_WORD(%r11), %r10d
	xor	$ENTRY_TO_TAIL, %r10d
	mov	48(%rsp), %eax
	mov	%eax, ENTRY_WORD(%r11)
.Ltail_event_\clock:
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ltail_full_\clock
	jmp	.Ljump_event_\clock
.Ltail_slow_\clock:
	mov	%rdx, %rax
	SLOW	tramp_slow_leave
	cmp	$ANSWER_AGAIN, %eax
	je	.Lenter_\clock
	/* The call at S is not known as open: no more than an entry can be said of this one; the return goes the old way. */
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	movl	$0, 52(%rsp)
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	jmp	.Ljump_event_\clock
.Ltail_full_\clock:
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Ljump_event_\clock
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	shr	$32, %r10
	jmp	.Ltail_event_\clock

/* Record the word in the frame, then jump to the body: slot S stays as it is. */
.Ljump_event_\clock:
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	mov	48(%rsp), %r10
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Ljump_full_\clock
.Ljump_\clock:
	pop	%r11
	.cfi_adjust_cfa_offset -8
	pop	%r10
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_adjust_cfa_offset 56
.Ljump_full_\clock:
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Ljump_\clock
	jmp	.Ljump_event_\clock

/*
 * Entry of a function whose return must not be intercepted. Stack as tramp_intercept's.
 */
	.globl	tramp_point_\clock
	.hidden	tramp_point_\clock
tramp_point_\clock:
	.cfi_adjust_cfa_offset -40
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%r10
	.cfi_adjust_cfa_offset 8
	push	%r11
	.cfi_adjust_cfa_offset 8
	xorl	$ENTRY_TO_POINT, 48(%rsp)
	SELF	.Lpoint_slow_\clock
	lea	56(%rsp), %rax
	cmp	%rax, STATE_TOP(%rcx)
	ja	.Ljump_event_\clock		/* else open calls at or below S are dead, or this is another stack */
.Lpoint_slow_\clock:
	lea	56(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_PASS, %eax
	je	.Ljump_\clock
	jmp	.Ljump_event_\clock
	.cfi_endproc
	.size	tramp_intercept_\clock, . - tramp_intercept_\clock
.endm

	INTERCEPT tsc
	INTERCEPT mono

/* ---- XRay sleds ---- */

.macro	XRAY_ENTRY clock
/*
 * Entry sled: r10d = word. The sled called the stub.
 *
 *	stack	 0 r11   8 rdx  16 rcx  24 rax  32 return to the sled (word X, below slot S)  40 A
 *
 * The open call is kept in the mirror of X: mirror(S) may be in use by an intercepted call with the same slot. No ABI-conforming call has
 * its slot at X, since calls have their slots at 8 modulo 16; other code would only lose this entry's end.
 */
	.p2align 6
	.globl	tramp_xray_entry_\clock
	.hidden	tramp_xray_entry_\clock
	.type	tramp_xray_entry_\clock, @function
tramp_xray_entry_\clock:
	.cfi_startproc
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%r11
	.cfi_adjust_cfa_offset 8
.Lxenter_\clock:
	SELF	.Lxenter_slow_\clock
	lea	32(%rsp), %rdx			/* X */
	mov	%rdx, %rax
	sub	STATE_STACK_LOW(%rcx), %rax
	cmp	STATE_STACK_SIZE(%rcx), %rax
	jae	.Lxenter_slow_\clock
	mov	STATE_TOP(%rcx), %rax
	sub	%rdx, %rax
	jbe	.Lxenter_slow_\clock
	movabs	$MIRROR_BASE, %r11
	lea	(%r11,%rdx,2), %r11
	shl	$29, %rax
	or	%r10, %rax			/* upper half of r10 is zero: the stub's lea cleared it */
	mov	%rax, ENTRY_WORD(%r11)
	mov	8(%rdx), %rax
	mov	%rax, ENTRY_ADDRESS(%r11)
	mov	%rdx, STATE_TOP(%rcx)
.Lxenter_event_\clock:
	shl	$32, %r10
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lxenter_full_\clock
.Lxenter_go_\clock:
	pop	%r11
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 32
.Lxenter_slow_\clock:
	lea	32(%rsp), %rax
	SLOW	tramp_slow_enter
	cmp	$ANSWER_AGAIN, %eax
	je	.Lxenter_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lxenter_go_\clock
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	jmp	.Lxenter_event_\clock
.Lxenter_full_\clock:
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Lxenter_go_\clock
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	shr	$32, %r10
	jmp	.Lxenter_event_\clock
	.cfi_endproc
	.size	tramp_xray_entry_\clock, . - tramp_xray_entry_\clock
.endm

/*
 * Exit and tail sleds: r10d = word. The exit sled jumped to its stub (slot S = %rsp), the tail sled called it (S = %rsp+8).
 *
 *	stack	 0 r11   8 rdx  16 rcx  24 rax  32 slot S (exit), or the return to the sled at X and S behind it (tail)
 */
.macro	XRAY_LEAVE name, x, clock
	.p2align 6
	.globl	tramp_xray_\name\()_\clock
	.hidden	tramp_xray_\name\()_\clock
	.type	tramp_xray_\name\()_\clock, @function
tramp_xray_\name\()_\clock:
	.cfi_startproc
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%r11
	.cfi_adjust_cfa_offset 8
	shl	$32, %r10
.Lx\name\()_\clock:
	CLOCK	\clock
	mov	%eax, %r11d
	or	%r11, %r10
	SELF	.Lx\name\()_go_\clock
	lea	\x(%rsp), %r11			/* X */
	cmp	%r11, STATE_TOP(%rcx)
	jne	.Lx\name\()_slow_\clock
	push	%rdx
	.cfi_adjust_cfa_offset 8
	movabs	$MIRROR_BASE, %rdx
	mov	ENTRY_LINK(%rdx,%r11,2), %edx
	lea	(%r11,%rdx,8), %r11
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	mov	%r11, STATE_TOP(%rcx)
	WRITE	.Lx\name\()_full_\clock
.Lx\name\()_go_\clock:
	pop	%r11
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 32
.Lx\name\()_slow_\clock:
	mov	%r11, %rax
	SLOW	tramp_slow_leave
	shr	$32, %r10
	shl	$32, %r10
	cmp	$ANSWER_AGAIN, %eax
	je	.Lx\name\()_\clock
	cmp	$ANSWER_PASS, %eax
	je	.Lx\name\()_go_\clock
	jmp	.Lx\name\()_retry_\clock
.Lx\name\()_full_\clock:
	SLOW	tramp_slow_event
	cmp	$ANSWER_AGAIN, %eax
	jne	.Lx\name\()_go_\clock
	shr	$32, %r10
	shl	$32, %r10
.Lx\name\()_retry_\clock:
	mov	tramp_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
	CLOCK	\clock
	or	%rax, %r10
	WRITE	.Lx\name\()_full_\clock
	jmp	.Lx\name\()_go_\clock
	.cfi_endproc
	.size	tramp_xray_\name\()_\clock, . - tramp_xray_\name\()_\clock
.endm

	XRAY_ENTRY tsc
	XRAY_ENTRY mono
	XRAY_LEAVE exit, 24, tsc
	XRAY_LEAVE exit, 24, mono
	XRAY_LEAVE tail, 32, tsc
	XRAY_LEAVE tail, 32, mono

/* ---- calls that tell of frames which never return ---- */

/*
 * Stack as tramp_intercept's; afterwards, at .Lgo_on, 0 rdx   8 rcx   16 rax   24 body   32 word   40 A (slot S).
 * landed: what lies at or below S was unwound by an exception. jump: rdi = jmp_buf.
 */
	.p2align 4
	.globl	tramp_landed
	.hidden	tramp_landed
	.type	tramp_landed, @function
tramp_landed:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	SELF	.Lgo_on				/* no record, no open calls */
	lea	40(%rsp), %rax
	cmp	%rax, STATE_TOP(%rcx)
	ja	.Lgo_on
	SLOW	tramp_slow_enter
	jmp	.Lgo_on
	.globl	tramp_jump
	.hidden	tramp_jump
tramp_jump:
	.cfi_adjust_cfa_offset -24
	push	%rax
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	SELF	.Lgo_on
	mov	%rdi, %rax
	SLOW	tramp_slow_jump
.Lgo_on:
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rax
	.cfi_adjust_cfa_offset -8
	lea	16(%rsp), %rsp			/* drop body and word; the red zone keeps the first for the jump */
	.cfi_adjust_cfa_offset -16
	jmp	*-16(%rsp)
	.cfi_endproc
	.size	tramp_landed, . - tramp_landed

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
	jmp	*handler_table+\event(%rip)
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

	.section .note.GNU-stack, "", @progbits
