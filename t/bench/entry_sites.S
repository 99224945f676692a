/* SPDX-License-Identifier: MIT */
/*
 * Functions that nothing was prepared for, as bench_<NAME> (unsigned long f(unsigned long a), return a + 1), for
 * entry.sh. With -DCALLS they begin with `sub; call`, with -DPUSHES, too, with `push; call`, so that the call is
 * displaced. What precedes them is no padding with -DBARE. What they call is no function to an index: nothing is added
 * to what it costs.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define FUNCTION    JOIN(bench_, NAME)

	.text
	.p2align 6
#ifdef CALLS
inner:
	lea	1(%rdi), %rax
	ret
	.p2align 4
#ifdef BARE
	.fill	16, 1, 0xc3
#else
	.fill	16, 1, 0x90
#endif
#endif
	.globl	FUNCTION
	.type	FUNCTION, @function
FUNCTION:
#ifdef PUSHES
	push	%rdi
	call	inner
	pop	%rdi
	ret
#elif defined(CALLS)
	sub	$8, %rsp
	call	inner
	add	$8, %rsp
	ret
#else
	lea	1(%rdi), %rax
	ret
#endif
	.size	FUNCTION, . - FUNCTION

	.section .note.GNU-stack, "", @progbits
