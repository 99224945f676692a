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

/* The same elsewhere, as a displaced copy of it: the third instruction is longer here. */
	place	place_copy
	inc	%eax
	inc	%ecx
	.byte	0x3e
	inc	%edx
	jmp	place_steps + 6

/* Never left. */
	place	place_spin
	nop
0:	jmp	0b
	nop
	nop
	ret

/* Raises SIGILL; the handler goes on two bytes after it, or where it was sent. Returns 1 at place_trap_end, else 0. */
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

/* place_trap elsewhere. */
	place	place_trap_copy
	nop
	nop
	jmp	place_trap_end

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
