/* SPDX-License-Identifier: MIT */
/*
 * Each form of unwind information, for t/index/unwind.t, which knows the address of each row: the file has one section
 * of code, and what changes a row stands behind so many bytes.
 */
	.macro b count:req
	.skip \count, 0x90
	.endm
	.macro function name:req
	.p2align 4
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	.endm

	.text
	/* 0: a frame with rbp, and one end of it in the middle */
	function frame
	b 1
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	b 3
	.cfi_def_cfa_register %rbp
	b 2
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	b 1
	.cfi_restore_state
	b 9
	.cfi_endproc

	/* 10: padding follows, which has no row, and 20: begins with the same row */
	function alike
	b 4
	.cfi_endproc

	function aligned
	b 4
	.cfi_def_cfa %r10, 0
	b 4
	.cfi_escape 0x10, 6, 2, 0x76, 0		/* rbp: breg6 0 */
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	/* CFA: breg6 -8, deref */
	b 4
	.cfi_def_cfa %r10, 0
	b 2
	.cfi_def_cfa %rsp, 8
	b 2
	.cfi_endproc

	/* 30 */
	function outermost
	.cfi_undefined %rip
	b 16
	.cfi_endproc

	/* 40: where rbp is */
	function rbp
	.cfi_undefined %rbp
	b 2
	.cfi_same_value %rbp
	b 2
	.cfi_register %rbp, %rax
	b 2
	.cfi_offset %rbp, -24
	b 2
	.cfi_escape 0x11, 6, 4	/* offset_extended_sf: -32 */
	b 2
	.cfi_escape 0x2f, 6, 5	/* GNU_negative_offset_extended: 40 */
	b 2
	.cfi_escape 0x2f, 6, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1	/* of -2: -16 */
	b 2
	.cfi_escape 0x14, 6, 2	/* val_offset */
	b 2
	.cfi_endproc

	/* 50: how far, and where the return address is */
	function far
	.cfi_def_cfa_offset 12
	b 2
	.cfi_def_cfa_offset 262136
	b 2
	.cfi_def_cfa_offset 262144
	b 2
	.cfi_def_cfa_offset 16
	.cfi_offset %rip, -16
	b 2
	.cfi_escape 5, 16, 1	/* offset_extended: -8 */
	b 2
	.cfi_register %rip, %rdx
	b 2
	.cfi_restore %rip
	b 2
	.cfi_escape 0x2e, 16	/* GNU_args_size */
	b 2
	.cfi_endproc

	/* 60 */
	function expressions
	.cfi_escape 0x0f, 5, 0x77, 8, 6, 0x23, 8	/* breg7 8, deref, plus_uconst 8 */
	b 4
	.cfi_escape 0x0f, 3, 0x76, 0x74, 6		/* breg6 -12, deref */
	b 4
	.cfi_def_cfa %rbp, 16
	b 4
	.cfi_escape 0x0f, 3, 0x76, 0, 6			/* breg6 0, deref */
	b 4
	.cfi_endproc

	/* 70: a signal frame that is not the kernel's; code that nothing is known of follows */
	function signal_frame
	.cfi_signal_frame
	b 8
	.cfi_endproc
	.skip 8, 0xc3

	/* 80: the kernel's; its code begins a byte later */
	function from_signal
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6		/* breg7 160, deref */
	b 1
	mov $15, %rax
	syscall
	.cfi_endproc

	/* 90 */
	function plt
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	b 32
	.cfi_endproc

	/* b0 */
	function other_column
	.cfi_return_column 3
	b 16
	.cfi_endproc

	/* c0: by a distance of each size */
	function distances
	b 0x50
	.cfi_def_cfa_offset 16
	b 0x200
	.cfi_def_cfa_offset 24
	b 0x10000
	.cfi_def_cfa_offset 32
	b 16
	.cfi_endproc

	/* 10320: an instruction that nobody knows */
	function unknown
	b 4
	.cfi_escape 0x3e
	b 12
	.cfi_endproc

	/* 10330: other encodings of what there was */
	function encodings
	.cfi_escape 0x12, 7, 0x7e	/* def_cfa_sf: 16 */
	b 4
	.cfi_escape 0x13, 0x7d		/* def_cfa_offset_sf: 24 */
	b 4
	.cfi_offset %rbp, -16
	b 4
	.cfi_escape 6, 6		/* restore_extended */
	b 4
	.cfi_endproc

	/* 10340: states in states, more than are kept; fewer */
	function deep
	.rept 16
	.cfi_escape 0x0a
	.endr
	b 4
	.cfi_escape 0x0a
	b 12
	.cfi_endproc

	/* 10350 */
	function last
	b 16
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
