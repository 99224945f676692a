/* SPDX-License-Identifier: MIT */
/* The place of return labels of their own (labels.h), and the way from them to the trampoline. */
#include "x86_64/labels.h"
#include "x86_64/offsets.h"
#include "x86_64/tramp_pieces.h"

/* Unwinders of the program, and gdb, find the way on here as at tramp_return_tsc (tramp_intercept.S says how). */
	.section .bss.large, "aw", @nobits /* SYS_LARGE */
	.p2align 12
	.globl	tramp_labels
	.hidden	tramp_labels
	.type	tramp_labels, @object
	.size	tramp_labels, LABELS_TABLE
	.globl	tramp_labels_file
	.hidden	tramp_labels_file
	.type	tramp_labels_file, @object
	.size	tramp_labels_file, LABELS_MAPPED
tramp_labels_file:
	.zero	LABELS_AT
tramp_labels:
	.zero	LABELS_TABLE
	.globl	tramp_labels_code
	.hidden	tramp_labels_code
	.type	tramp_labels_code, @object
	.size	tramp_labels_code, LABELS_TABLE
tramp_labels_code:
	.cfi_startproc
	.cfi_def_cfa_offset 1
	.cfi_escape 0x16, 7, 3, 0x09, 0xff, 0x22
	RETURNS_BY_MIRROR 9
	.zero	LABELS_TABLE
	.cfi_endproc
	.zero	LABELS_MAPPED - LABELS_BEHIND

	/* The other mapping, of the file up to its code. */
	.p2align 12
	.globl	tramp_labels_other
	.hidden	tramp_labels_other
	.type	tramp_labels_other, @object
	.size	tramp_labels_other, LABELS_CODE_AT
tramp_labels_other:
	.zero	LABELS_CODE_AT
	.p2align 12

	.text
/*
 * Every label jumps here: to the return of the clock that is used. Stack as at tramp_return_own_tsc, whose unwind
 * information this is.
 */
	.p2align 4
	.globl	tramp_labels_back
	.hidden	tramp_labels_back
	.type	tramp_labels_back, @function
tramp_labels_back:
	.cfi_startproc
	.cfi_def_cfa_offset 0
	RETURNS_BY_LABEL
	jmp	*dispatch_table+EVENT_RETURN(%rip)
	.cfi_endproc
	.size	tramp_labels_back, . - tramp_labels_back

	.section .note.GNU-stack, "", @progbits
