/* SPDX-License-Identifier: MIT */
/*
 * Trampolines of probes. Called by a stub (probe.h), between any two instructions of a function:
 *
 *	in	0(%rsp) return into the stub, 8 word, 16 RESUME, then the red zone, then at 152 the function's own
 *		stack, aligned to nothing
 *	out	everything as on entry: all registers, flags, and the direction flag, too
 *
 * Flags that an instruction may ask for are kept by lahf and seto, since popfq takes longer than all the rest. Nothing
 * on the fast path asks for the direction, or for alignment; C wants these to be clear, so around that they are looked
 * at, and set once more.
 *
 * To unwinders the caller is the function, at RESUME, with its stack pointer above the red zone: that is the CFA, and
 * the stub's frame does not exist.
 *
 *	stack	 0 r11   8 r10  16 rdx  24 rcx  32 rax  40 flags: al = 1: overflow, ah = the others  48 return into the
 *		stub  56 word  64 RESUME  72 the red zone  200 the function's own
 */
#include "x86_64/tramp_calls.h"

	.text

#define PROBE_CFA   (24 + RED_ZONE)	/* from %rsp as the stub's call leaves it */
#define PROBE_WORD  56
#define PROBE_FLAGS 40
#define PROBE_SP    200		/* from %rsp after PROBE_SAVE */
#define PROBE_SLOT  192		/* the word below: an address on its stack, and where a call of its would be */
#define DIRECTION   0x400
#define ALIGNMENT   0x40000
#define X87_CODES   0x4700	/* of x87's status word */

.macro	PROBE_START name, align=4
	.p2align \align
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.cfi_def_cfa_offset PROBE_CFA
	.cfi_offset %rip, -(RED_ZONE + 8)
.endm

.macro	PROBE_END name
	.cfi_endproc
	.size	\name, . - \name
.endm

/*
 * The registers that are used, and told to debuggers, since here all hold values. No instruction changes flags. self:
 * rcx = this thread's record, or 0; loaded here already, since rdtsc waits for all that is under way.
 */
.macro	PROBE_SAVE self=0
	lea	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
.irp	register, rax, rcx, rdx, r10, r11
	push	%\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\register, 0
.ifc	\self\()\register, 1rcx
	SELF_AGAIN
.endif
.endr
	lahf
	seto	%al
	mov	%eax, PROBE_FLAGS(%rsp)
.endm

.macro	PROBE_BACK
	mov	PROBE_FLAGS(%rsp), %eax
	add	$0x7f, %al			/* overflows, if it did */
	sahf
	.cfi_remember_state
.irp	register, r11, r10, rdx, rcx, rax
	pop	%\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\register
.endr
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_restore_state
	/* said anew: LLVM's assembler forgets at restore_state what it adjusts from */
	.cfi_def_cfa_offset PROBE_CFA + 48
.endm

/*
 * Around C, which clears the direction flag, and whose words need not be aligned, so the flag that asks for that is
 * clear, too. What lies between keeps %rsp; flags are lost, rax is not.
 */
.macro	DIRECTION_KEPT
	pushfq
	.cfi_adjust_cfa_offset 8
	testl	$ALIGNMENT, (%rsp)
	jz	75f
	pushfq
	.cfi_adjust_cfa_offset 8
	andl	$~ALIGNMENT, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
75:
.endm

.macro	DIRECTION_BACK
	testl	$ALIGNMENT, (%rsp)
	jz	76f
	pushfq
	.cfi_adjust_cfa_offset 8
	orl	$ALIGNMENT, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
76:	testl	$DIRECTION, (%rsp)
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jz	77f
	std
77:
.endm

/* SLOW, from here. */
.macro	PROBE_SLOW function
	DIRECTION_KEPT
	SLOW	\function
	DIRECTION_BACK
.endm

.macro	PROBE_CLOCK clock
.ifc	\clock, mono
	DIRECTION_KEPT
	CLOCK	mono
	DIRECTION_BACK
.else
	CLOCK	\clock
.endif
.endm

/*
 * r11 = the stack that the function is on, if the thread used it last, in its known part, without calls to be ended;
 * else goes to \other. rcx = record; clobbers rax. As POINT: the stack may end above the known part, where another one
 * is by now.
 */
.macro	PROBE_ON other
	STACK	%r11, \other
	lea	PROBE_SLOT(%rsp), %rax
	cmp	%rax, STACK_TOP(%r11)
	jb	\other				/* open calls below are dead. An XRay call is kept at this word */
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	\other
.endm

/*
 * In PROBE_LATE, where rax was found: a twin, forked by a handler, may have stored \word there. Goes to \other if that
 * is not so, else to \on: nobody has moved the cursor. As IF_TWINS.
 */
.macro	PROBE_TWINS word, on, other
	cmp	\word, %rax
	jne	\other
	SELF_AGAIN
	cmp	%rdi, STATE_CURSOR(%rcx)
	mov	STATE_TOKEN(%rcx), %rdx
	je	\on
	jmp	\other
.endm

/*
 * Records an event whose payload is one register or two: the event's first word; of the payload the second word, then
 * the first, which makes the event whole, as of STORE_LATE. The cursor is looked at before each store: a handler that
 * has made events, or forked, has moved it; then C records the event.
 *
 * r10 = struct tramp_values, rcx = record, r11 = stack. Goes to \slow, with the stack as before. Clobbers rax, rcx,
 * rdx, r10.
 *
 *	stack	as VALUES_QUICK's
 *	in use	rdi where, rsi words of the payload, r8 and r9 these, r10 event
 */
.macro	PROBE_LATE clock, slow
	SAVE	%r9, %r8, %rsi, %rdi
	pushq	$0
	.cfi_adjust_cfa_offset 8
	PROBE_CLOCK \clock
	movzbl	QUICK_ENTRY+QUICK_PIECE(%r10), %r8d
	movzbl	QUICK_ENTRY+QUICK_PIECE+2(%r10), %r9d
	mov	(%rsp,%r8), %r8
	mov	(%rsp,%r9), %r9
	movzbl	QUICK_ENTRY+QUICK_WORDS(%r10), %esi
	mov	QUICK_ENTRY+QUICK_LATE(%r10), %r10
	or	%rax, %r10
	add	%eax, %eax			/* edx = clock >> 31, as of WRITE */
	adc	%edx, %edx
	ROOM	%rdi, "(%rdi,%rsi,8)", 8f, LINES_tsc
	mov	STATE_TOKEN(%rcx), %rdx
	cmp	%rdx, %r8			/* it would look like none */
	je	8f
	mov	%rdx, %rax
	cmpxchg	%r10, (%rdi)			/* no lock: as of STORE */
	jne	5f
2:	cmp	$1, %esi
	je	3f
	cmp	%rdi, STATE_CURSOR(%rcx)
	jne	8f
	mov	%rdx, %rax			/* it is there, but after cmpxchg, for which none needs to wait */
	cmpxchg	%r9, 16(%rdi)
	jne	6f
3:	cmp	%rdi, STATE_CURSOR(%rcx)
	jne	8f
	mov	%rdx, %rax
	cmpxchg	%r8, 8(%rdi)
	jne	7f
4:	lea	8(,%rsi,8), %esi
	add	%rsi, STATE_CURSOR(%rcx)	/* relative, as of STORE */
	jmp	9f
5:	PROBE_TWINS %r10, 2b, 8f
6:	PROBE_TWINS %r9, 3b, 8f
7:	PROBE_TWINS %r8, 4b, 8f
	QUICK_BACK \slow
.endm

.macro	PROBE	clock
	PROBE_START tramp_probe_\clock, 6
	PROBE_SAVE 1
/* From tramp_probe_watch, which has saved them, and has rcx. */
	.globl	tramp_probe_saved_\clock
	.hidden	tramp_probe_saved_\clock
tramp_probe_saved_\clock:
	cmpl	$0, tramp_checks(%rip)
	jne	.Lprobe_checked_\clock
.Lprobe_admitted_\clock:
	test	%rcx, %rcx
	jz	.Lprobe_slow_\clock
	mov	PROBE_WORD(%rsp), %r10
	shl	$32, %r10
	js	.Lprobe_values_\clock
	PROBE_ON .Lprobe_slow_\clock
.Lprobe_put_\clock:
.ifc	\clock, coarse
	WRITE_SHARED .Lprobe_read_\clock, .Lprobe_full_\clock
.else
	PROBE_CLOCK \clock
	or	%rax, %r10
	WRITE	.Lprobe_full_\clock, LINES_\clock
.endif
.Lprobe_go_\clock:
	PROBE_BACK

/* -- off the fast path -- */
.ifc	\clock, coarse
.Lprobe_read_\clock:
	CLOCK	coarse
	or	%rax, %r10
	WRITE	.Lprobe_full_\clock, LINES_\clock
	jmp	.Lprobe_go_\clock
.endif
.Lprobe_full_\clock:
	lea	PROBE_SLOT(%rsp), %rdx
	PROBE_SLOW tramp_slow_event
	jmp	.Lprobe_go_\clock
.Lprobe_slow_\clock:
	lea	PROBE_SP(%rsp), %rax
	PROBE_SLOW tramp_slow_probe
	cmp	$ANSWER_PASS, %eax
	je	.Lprobe_go_\clock
	cmp	$ANSWER_AGAIN, %eax
	jne	.Lprobe_cold_\clock
	/* Its stack is the thread's now, or was. */
	SELF	.Lprobe_cold_\clock
	STACK	%r11, .Lprobe_cold_\clock
	lea	PROBE_SLOT(%rsp), %rax
	sub	STACK_LOW(%r11), %rax
	cmp	STACK_SIZE(%r11), %rax
	jae	.Lprobe_cold_\clock
	mov	PROBE_WORD(%rsp), %r10
	shl	$32, %r10
	js	.Lprobe_valued_\clock
	jmp	.Lprobe_put_\clock
.Lprobe_cold_\clock:
	mov	PROBE_WORD(%rsp), %r10
	and	$~TRAMP_WORD_VALUES, %r10d	/* without values */
	shl	$32, %r10
	xor	%eax, %eax
	jmp	.Lprobe_full_\clock
.Lprobe_checked_\clock:
	testl	$TRAMP_CHECK_MUTED, tramp_checks(%rip)
	jz	.Lprobe_wanted_\clock
	mov	PROBE_WORD(%rsp), %eax
	PROBE_SLOW tramp_filter_probe
	cmp	$ANSWER_PASS, %eax
	je	.Lprobe_go_\clock
	SELF_AGAIN
.Lprobe_wanted_\clock:
	testl	$WANTED_PROBE, tramp_wanted(%rip)
	jz	.Lprobe_admitted_\clock	/* flags are lost, rcx is not */
	mov	%rsp, %r10
	DIRECTION_KEPT
	CLOCK_APART \clock
	shl	$32, %rdx
	or	%rax, %rdx
	lea	tramp_handle_probe(%rip), %rax
	mov	%r10, %rcx
	call	handler_call_codes
	DIRECTION_BACK
	SELF_AGAIN
	test	%eax, %eax
	jnz	.Lprobe_admitted_\clock		/* its event comes after those of the handler */
	test	%rcx, %rcx
	jz	.Lprobe_slow_\clock
	PROBE_ON .Lprobe_slow_\clock
	mov	PROBE_WORD(%rsp), %r10
	shl	$32, %r10
	js	.Lprobe_valued_\clock
	mov	%edx, %eax
	or	%rax, %r10
	shr	$31, %rdx
	mov	STATE_CURSOR(%rcx), %rax	/* as of WRITE_TOLD */
	cmp	%edx, STATE_SPAN(%rcx)
	jne	.Lprobe_full_\clock
	mov	%rax, %rdx
	STORE	.Lprobe_full_\clock
	jmp	.Lprobe_go_\clock
/* rcx = record. What the loads lead to is looked at last: they take their time. */
	.p2align 6
.Lprobe_values_\clock:
	VALUES_AT PROBE_WORD(%rsp), %r10
	PROBE_ON .Lprobe_slow_\clock
.Lprobe_known_\clock:
	test	%r10, %r10
	jz	.Lprobe_found_\clock
	cmpq	$0, QUICK_ENTRY+QUICK_LATE(%r10)
	je	.Lprobe_many_\clock
	PROBE_LATE \clock, .Lprobe_found_\clock
	jmp	.Lprobe_go_\clock
.Lprobe_many_\clock:
	cmpl	$0, QUICK_ENTRY+QUICK_EVENT(%r10)
	je	.Lprobe_found_\clock
	PROBE_CLOCK \clock
	VALUES_QUICK QUICK_ENTRY, .Lprobe_found_\clock, LINES_tsc
	jmp	.Lprobe_go_\clock
.Lprobe_found_\clock:
	mov	%rsp, %rcx
	lea	tramp_values_probe(%rip), %rax
	DIRECTION_KEPT
	call	handler_call
	DIRECTION_BACK
	jmp	.Lprobe_go_\clock
/* r11 = stack, too */
.Lprobe_valued_\clock:
	VALUES_AT PROBE_WORD(%rsp), %r10
	jmp	.Lprobe_known_\clock
	PROBE_END tramp_probe_\clock
.endm

/*
 * handler_call, and then the condition codes of x87 are what they were: no function keeps them over a call, but the
 * next instruction may ask what the last comparison has left there.
 *
 *	stack	0 x87's status before, 2 after
 */
	.p2align 4
	.type	handler_call_codes, @function
handler_call_codes:
	.cfi_startproc
	lea	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	fnstsw	(%rsp)
	call	handler_call
	fnstsw	2(%rsp)
	mov	(%rsp), %cx
	xor	2(%rsp), %cx
	test	$X87_CODES, %ecx
	jz	1f
	mov	(%rsp), %cx
	lea	-32(%rsp), %rsp
	.cfi_adjust_cfa_offset 32
	fnstenv	(%rsp)
	mov	%cx, 4(%rsp)
	fldenv	(%rsp)
	lea	32(%rsp), %rsp
	.cfi_adjust_cfa_offset -32
1:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	handler_call_codes, . - handler_call_codes

	PROBE	tsc
	PROBE	mono
	PROBE	coarse

/* Counts it as a call, and goes on. */
	PROBE_START tramp_probe_count
	PROBE_SAVE
	mov	PROBE_WORD(%rsp), %eax
	and	$ID_MASK, %eax
	COUNT	.Lprobe_counted, PROBE_SLOW
.Lprobe_counted:
	PROBE_BACK
	PROBE_END tramp_probe_count

/* Nothing is recorded, but the probe may start that. */
	PROBE_START tramp_probe_watch
	PROBE_SAVE
	mov	PROBE_WORD(%rsp), %eax
	TABLE_ID
	ja	.Lprobe_watched
	lea	tramp_table(%rip), %rcx
	testb	$TRAMP_STARTS, (%rcx,%rax)
	jz	.Lprobe_watched
	SELF_AGAIN
	jmp	*dispatch_watched+EVENT_PROBE(%rip)
.Lprobe_watched:
	PROBE_BACK
	PROBE_END tramp_probe_watch

/* Nothing is recorded. */
	PROBE_START tramp_probe_pass
	ret
	PROBE_END tramp_probe_pass

	PROBE_START tramp_gate_probe
	endbr64
	jmp	*dispatch_table+EVENT_PROBE(%rip)
	PROBE_END tramp_gate_probe

	.section .note.GNU-stack, "", @progbits
