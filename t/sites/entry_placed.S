/* SPDX-License-Identifier: MIT */
/*
 * For t/sites/entry_placed.t: functions whose first instructions have a call among them that a jump would cover a part
 * of. Each is long placed_<name>(struct told *), calls what the struct points to first, with the struct, and adds its
 * own number to what that returned. placed_behind has the addresses that the calls return to, in order of the numbers.
 */
	.macro	FUNCTION name, before
	.p2align 5
	.fill	16, 1, \before
	.globl	placed_\name
	.type	placed_\name, @function
placed_\name:
	.cfi_startproc
	.endm
	.macro	BEHIND name
behind_\name:
	.pushsection .data.rel.ro.local, "aw", @progbits
	.quad	behind_\name
	.popsection
	.endm
	.macro	END name, number
	add	$\number, %rax
	ret
	.cfi_endproc
	.size	placed_\name, . - placed_\name
	.endm
	.macro	LEAVES size
	.cfi_adjust_cfa_offset -\size
	.endm
	.macro	TAKES size
	.cfi_adjust_cfa_offset \size
	.endm

	.section .data.rel.ro.local, "aw", @progbits
	.p2align 3
	.globl	placed_behind
	.type	placed_behind, @object
	.size	placed_behind, 80
placed_behind:

	.text
	/* No function that is known: a jump to what the struct points to. */
	.p2align 4
inner:
	jmp	*(%rdi)

FUNCTION push, 0xc3			/* one byte behind the jump, no padding before */
	push	%rbx
	TAKES	8
	call	inner
BEHIND push
	pop	%rbx
	LEAVES	8
END push, 1
FUNCTION register, 0xc3			/* the same, by way of memory */
	sub	$8, %rsp
	TAKES	8
	call	*(%rdi)
BEHIND register
	add	$8, %rsp
	LEAVES	8
END register, 2
FUNCTION pair, 0xc3			/* two bytes */
	push	%r12
	TAKES	8
	call	inner
BEHIND pair
	pop	%r12
	LEAVES	8
END pair, 3
FUNCTION three, 0xc3			/* three */
	push	%rbx
	TAKES	8
	xor	%esi, %esi
	call	inner
BEHIND three
	pop	%rbx
	LEAVES	8
END three, 4
FUNCTION memory, 0xc3			/* five, by way of memory */
	sub	$8, %rsp
	TAKES	8
	call	*inner_at(%rip)
BEHIND memory
	add	$8, %rsp
	LEAVES	8
END memory, 5
FUNCTION stays, 0xc3			/* four, or its first byte is the jump's last */
	sub	$8, %rsp
	TAKES	8
	call	inner
BEHIND stays
	add	$8, %rsp
	LEAVES	8
END stays, 6
FUNCTION padded, 0x90			/* four behind a jump of two, to one in the padding */
	push	%rbx
	TAKES	8
	call	inner
BEHIND padded
	pop	%rbx
	LEAVES	8
END padded, 7
FUNCTION landed, 0x90			/* the same behind an endbr64 */
	endbr64
	push	%rbx
	TAKES	8
	call	inner
BEHIND landed
	pop	%rbx
	LEAVES	8
END landed, 8
FUNCTION first, 0x90			/* three */
	call	inner
BEHIND first
	nop
END first, 9
FUNCTION never, 0xc3			/* none: displaced */
	call	inner
BEHIND never
	nop
END never, 10

	.section .data.rel.local, "aw", @progbits
	.p2align 3
inner_at:
	.quad	inner
	.section .note.GNU-stack, "", @progbits
