/* SPDX-License-Identifier: MIT */
/* A library of probe_kept.c's: three instructions of 3, 4 and 4 bytes, and a return; 125 n + 7. */
	.text
	.p2align 6
	.globl	do_stuff
	.type	do_stuff, @function
do_stuff:
	lea	(%rdi,%rdi,4), %eax
	lea	1(%rax,%rax,4), %eax
	lea	2(%rax,%rax,4), %eax
	ret
	.size	do_stuff, . - do_stuff
	.p2align 6
	.section .note.GNU-stack, "", @progbits
