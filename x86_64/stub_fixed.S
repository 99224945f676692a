/* SPDX-License-Identifier: MIT */
/*
 * Cell stubs that need no memory of their own: part of the module's text, with cells in its data (stub.h draws a stub).
 * Each start binds some functions of a handful of libraries, and a mapping for each library would cost it 10 us.
 *
 *	in	-, at a stub; out: at the gate, with two words more on the stack
 *	clobbers nothing, flags neither
 *	stack	 0 body   8 word  16 return address
 */
#include "x86_64/offsets.h"

	.text
	.p2align 12
	.globl	stub_fixed
	.hidden	stub_fixed
	.type	stub_fixed, @function
stub_fixed:
	.cfi_startproc
	/*
	 * CFA = rsp + 8, and 8 more after each push, which end 12 and 18 bytes after the beginning of a stub:
	 * breg7 8; (breg16 0; lit31; and; lit12; ge); (the same with lit18); plus; lit3; shl; plus. valgrind ends at a
	 * dup.
	 */
	.cfi_escape 0x0f, 18, 0x77, 8, 0x80, 0, 0x4f, 0x1a, 0x3c, 0x2a, 0x80, 0, 0x4f, 0x1a, 0x42, 0x2a, 0x22, \
		0x33, 0x24, 0x22
	.set	cell, 0
	.rept	FIXED_STUBS
	jmp	*stub_fixed_cells + cell + CELL_TARGET(%rip)
	push	stub_fixed_cells + cell + CELL_WORD(%rip)
	push	stub_fixed_cells + cell + CELL_BODY(%rip)
	jmp	*stub_fixed_cells + cell + CELL_GATE(%rip)
	.balign	STUB_BYTES, 0xcc
	.set	cell, cell + CELL_SIZE
	.endr
	.cfi_endproc
	.size	stub_fixed, . - stub_fixed

	.section .bss.large, "aw", @nobits /* SYS_LARGE */
	.p2align 12
	.globl	stub_fixed_cells
	.hidden	stub_fixed_cells
	.type	stub_fixed_cells, @object
	.size	stub_fixed_cells, FIXED_STUBS * CELL_SIZE
stub_fixed_cells:
	.zero	FIXED_STUBS * CELL_SIZE

	.section .note.GNU-stack, "", @progbits
