/* SPDX-License-Identifier: MIT */
/*
 * Functions that nothing was prepared for, as bench_<WAY>_<shape>, for entry.sh. What they call is no function to an
 * index: nothing is added to what it costs.
 */
#include "entry_shapes.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define PREFIX	    JOIN(bench_, JOIN(WAY, _))

	.macro	SITE_named name, shape, before
	.p2align 6
	.fill	32, 1, \before
	.globl	\name\shape
	.type	\name\shape, @function
\name\shape:
	SHAPE_\shape inner
	.size	\name\shape, . - \name\shape
	.endm
	.macro	SITE shape, before
	SITE_named PREFIX, \shape, \before
	.endm

	.text
	.p2align 6
inner:
	lea	1(%rdi), %rax
	ret
	ENTRY_SHAPES SITE

	.data
	.p2align 3
inner_at:
	.quad	inner
	.section .note.GNU-stack, "", @progbits
