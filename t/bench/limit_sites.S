/* SPDX-License-Identifier: MIT */
/*
 * bench_limitplt, bench_limitpatchable and bench_limitxray: what sites like ours could cost at best. The way to the
 * hook is that of a traced call (a bound slot or a patched site, a stub, a gate, a table), the return is intercepted
 * likewise; but the hooks read the clock at entry and exit and keep nothing. One thread, no recursion.
 * bench_limitthreads is bench_limitplt for many threads: each has a line of its own. bench_limit_<shape> are displaced
 * entries of all shapes (entry_shapes.h).
 *
 * All are unsigned long f(unsigned long a), return a + 1, and change no other register than such a function may.
 */
#include "entry_shapes.h"

	.text

/* As a binding stub: the slot leads here. The stub of a patchable site is entered at its rest. */
.macro	STUB	name gate=intercept
	.p2align 5
.Lstub_\name:
	jmp	*.Ltarget_\name(%rip)
.Lrest_\name:
	push	.Lword_\name(%rip)
	push	.Lbody_\name(%rip)
	jmp	*.Lgate_\name(%rip)
	.data
	.p2align 5
.Lword_\name:
	.quad	0
.Lbody_\name:
	.quad	.Lfunction_\name
.Lgate_\name:
	.quad	.Lgate_\gate
.Ltarget_\name:
	.quad	.Lrest_\name
	.text
.endm

	.globl	bench_limitplt
	.type	bench_limitplt, @function
	.set	bench_limitplt, .Lstub_plt
	STUB	plt

	STUB	patchable

	.globl	bench_limitthreads
	.type	bench_limitthreads, @function
	.set	bench_limitthreads, .Lstub_threads
	STUB	threads own

	.p2align 4
.Lfunction_threads:
	lea	1(%rdi), %rax
	ret

	.p2align 4
.Lfunction_plt:
	lea	1(%rdi), %rax
	ret

	.p2align 4
	.globl	bench_limitpatchable
	.type	bench_limitpatchable, @function
bench_limitpatchable:
	.byte	0xe9				/* jmp with 32 bits, in the place of five NOPs */
	.long	.Lrest_patchable - .Lfunction_patchable
.Lfunction_patchable:
	lea	1(%rdi), %rax
	ret

	/* A displaced entry whose body is all of the function, as if none of it had to be displaced. */
	.macro	LIMIT_ENTRY shape, before
	STUB	entry_\shape
	.p2align 4
	.globl	bench_limit_\shape
	.type	bench_limit_\shape, @function
bench_limit_\shape:
	jmp	.Lstub_entry_\shape
	.p2align 4
.Lfunction_entry_\shape:
	SHAPE_\shape .Linner
	.endm
	ENTRY_SHAPES LIMIT_ENTRY
	.p2align 4
.Linner:
	lea	1(%rdi), %rax
	ret
	.data
	.p2align 3
.Linner_at:
	.quad	.Linner
	.text

	.p2align 4
.Lgate_intercept:
	jmp	*.Ltable(%rip)
.Lgate_xray:
	jmp	*.Ltable + 8(%rip)
.Lgate_own:
	jmp	*.Ltable + 16(%rip)
	.data
	.p2align 4
.Ltable:
	.quad	.Lintercept, .Lread, .Lintercept_threads, .Lintercept_values
	.p2align 6
.Lkept:
	.quad	0				/* return address of the call that is open; alone in its line */
	.p2align 6
	.text

/*
 * bench_limitvalues: the same, but at each end two words are stored, as of an event with values: the clock, and the
 * lower halves of rdi and rsi, or rax. They go round in a buffer of 64 KiB.
 */
	.globl	bench_limitvalues
	.type	bench_limitvalues, @function
	.set	bench_limitvalues, .Lstub_values
	STUB	values stored

	.p2align 4
.Lfunction_values:
	lea	1(%rdi), %rax
	ret

	.p2align 4
.Lgate_stored:
	jmp	*.Ltable + 24(%rip)

/* Stores the clock in edx:eax and \value. Clobbers rdx, rcx. */
.macro	STORE_TWO value
	shl	$32, %rdx
	or	%rax, %rdx
	mov	.Lbuffer_at(%rip), %rcx
	lea	.Lbuffer(%rip), %rax
	mov	%rdx, (%rax,%rcx)
	mov	\value, 8(%rax,%rcx)
	add	$16, %ecx
	and	$0xffff, %ecx
	mov	%rcx, .Lbuffer_at(%rip)
.endm

/* stack as .Lintercept's, with rcx pushed last */
	.p2align 6
.Lintercept_values:
	push	%rax
	push	%rdx
	push	%rcx
	rdtsc
	mov	%esi, %ecx
	shl	$32, %rcx
	mov	%edi, %r10d
	or	%rcx, %r10
	STORE_TWO %r10
	mov	40(%rsp), %rax
	mov	%rax, .Lkept(%rip)
	pop	%rcx
	pop	%rdx
	pop	%rax
	lea	24(%rsp), %rsp
	call	*-24(%rsp)
	lea	-8(%rsp), %rsp
	push	%rax
	push	%rdx
	push	%rcx
	mov	%eax, %r10d
	rdtsc
	STORE_TWO %r10
	mov	.Lkept(%rip), %rax
	mov	%rax, 24(%rsp)
	pop	%rcx
	pop	%rdx
	pop	%rax
	ret
	.bss
	.p2align 12
.Lbuffer:
	.zero	65536
.Lbuffer_at:
	.quad	0
	.text

	.section .tbss, "awT", @nobits
	.p2align 6
.Lkept_threads:
	.zero	64
	.text

/*
 *	in	0(%rsp) body, 8(%rsp) word, 16(%rsp) return address A; changes no register
 *	stack	0 rdx   8 rax  16 body  24 word  32 A
 */
.macro	INTERCEPT	name
	.p2align 6
.Lintercept\name:
	push	%rax
	push	%rdx
	rdtsc
	mov	32(%rsp), %rax
	.ifb	\name
	mov	%rax, .Lkept(%rip)
	.else
	mov	.Lkept_threads@gottpoff(%rip), %rdx
	mov	%rax, %fs:(%rdx)
	.endif
	pop	%rdx
	pop	%rax
	lea	24(%rsp), %rsp
	call	*-24(%rsp)
	/* stack: 0 rdx   8 rax  16 A again */
	lea	-8(%rsp), %rsp
	push	%rax
	push	%rdx
	rdtsc
	.ifb	\name
	mov	.Lkept(%rip), %rax
	.else
	mov	.Lkept_threads@gottpoff(%rip), %rax
	mov	%fs:(%rax), %rax
	.endif
	mov	%rax, 16(%rsp)
	pop	%rdx
	pop	%rax
	ret
.endm
	INTERCEPT
	INTERCEPT _threads

/* stack: 0 rdx   8 rax  16 where to go on; changes nothing but r10 */
	.p2align 6
.Lread:
	push	%rax
	push	%rdx
	rdtsc
	pop	%rdx
	pop	%rax
	ret

/* Two sleds as patched: a call at the entry, a jump in the place of the return. */
	.p2align 4
	.globl	bench_limitxray
	.type	bench_limitxray, @function
bench_limitxray:
	mov	$1, %r10d
	call	.Lxray_entry
	lea	1(%rdi), %rax
	mov	$1, %r10d
	jmp	.Lxray_exit

	.p2align 4
.Lxray_entry:
	lea	0x10000000(%r10), %r10d
	jmp	*.Lxray_gate(%rip)
	.p2align 4
.Lxray_exit:
	lea	0x20000000(%r10), %r10d
	jmp	*.Lxray_gate(%rip)
	.data
	.p2align 3
.Lxray_gate:
	.quad	.Lgate_xray

	.section .note.GNU-stack, "", @progbits
