/* SPDX-License-Identifier: MIT */
/*
 * Places of the test of positions: what follows each label are the first five bytes of a function, of which a jump
 * would take the place. Called as C functions; see position.c for what each is called with.
 */
	.text

	.macro	place name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.endm

/* eax, ecx, edx: how often each of three instructions ran. */
	place	place_steps
	inc	%eax
	inc	%ecx
	inc	%edx
	ret

/* Never left. */
	place	place_spin
	nop
0:	jmp	0b
	nop
	nop
	ret

/* Returns what the flags were. */
	place	place_flags
	nop
	pushf
	pop	%rax
	nop
	nop
	ret

/* Raises SIGILL; the handler goes on two bytes after it, or at place_trap_end. Returns 1 there, 0 otherwise. */
	place	place_trap
	nop
	ud2
	nop
	nop
	xor	%eax, %eax
	ret
	.globl	place_trap_end
place_trap_end:
	mov	$1, %eax
	ret

/* Calls what rdi points to: it returns to the third byte. The stack is not aligned for C. */
	place	place_call
	call	*%rdi
	nop
	nop
	nop
	ret

/* Likewise, but it returns behind the five bytes. */
	place	place_behind
	nop
	nop
	push	%rbp
	call	*%rdi
	pop	%rbp
	ret

/* read(rdi, rsi, rdx) */
	place	place_read
	xor	%eax, %eax
	syscall
	nop
	ret

	.section .note.GNU-stack, "", @progbits
