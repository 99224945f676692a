/* SPDX-License-Identifier: MIT */
/*
 * A function with 5000 places, probes of its own (USDT), of which each but the last ones has one way: a jump that
 * shares three bytes of the next instruction. These are another 64 KiB for each, so that each stub has a mapping of its
 * own.
 */
	.altmacro
	.macro block i
990:	mov	%edi, %eax
1:	.byte	0x05
	.long	0x40000000 + \i
	cmp	$1, %edi
	je	1b
	je	990b
	.pushsection .note.stapsdt, "", "note"
	.balign	4
	.4byte	8, 992f - 991f, 3
	.asciz	"stapsdt"
991:	.8byte	990b, 0, 0
	.asciz	"many"
	.asciz	"place"
	.asciz	""
992:	.balign	4
	.popsection
	.endm
	.text
	.globl	many
	.type	many, @function
many:
	xor	%eax, %eax
	.set	n, 0
	.rept	5000
	block	%n
	.set	n, n + 1
	.endr
	ret
	.size	many, .-many
	.section .note.GNU-stack, "", @progbits
