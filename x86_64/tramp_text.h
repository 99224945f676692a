/* SPDX-License-Identifier: MIT */
/* A macro of tramp_intercept.S: a call with a text as its value. As tramp_calls.h. */
#ifndef XAUDIT_TRAMP_TEXT_H
#define XAUDIT_TRAMP_TEXT_H

#include "x86_64/tramp_calls.h"

/*
 * \bytes = how many bytes from \text on can be read for certain: the thread's own stack above the call's slot, or the
 * segments of the called load (runtime/values/evaluate.h says why). Goes to \none if there are none. deep: the slot,
 * from rsp. r10 = struct tramp_values, r11 = stack; clobbers rax, rdx.
 */
.macro	READABLE text, bytes, deep, none
	lea	\deep(%rsp), %rdx
	cmp	%rdx, \text
	jb	1f
	mov	WHOLE_HIGH(%r11), \bytes
	sub	\text, \bytes
	jbe	1f
	cmpq	$0, WHOLE_PARENT(%r11)
	jne	1f
	mov	WHOLE_NATIVE(%r11), %rax
	cmp	$WHOLE_MAIN, %rax
	je	3f
	cmp	%fs:0, %rax
	je	3f
1:	mov	QUICK_ENTRY+QUICK_PLACE(%r10), %rax
	mov	(%rax), %rax
	test	%rax, %rax
	jz	\none
	mov	PLACE_COUNT(%rax), %edx
	add	$PLACE_FIRST, %rax
2:	dec	%edx
	js	\none
	add	$16, %rax
	cmp	-16(%rax), \text
	jb	2b
	mov	-8(%rax), \bytes
	sub	\text, \bytes
	jbe	2b
3:
.endm

/*
 * In VALUES_TEXT: goes to \other if rax, found there, is not the word rdx that was to be stored; else flags: equal if
 * the cursor is there. r11 = record.
 */
.macro	TWIN_WORD other
	cmp	%rdx, %rax
	jne	\other
	SELF_AGAIN %r11
	cmp	%rdi, STATE_CURSOR(%r11)
.endm

/*
 * Records the entry of a call whose value is a text, as STORE_LATE, but of several words: the event's first word; the
 * payload's words from the last one to the second; then its first, which makes the event whole. They are 2 bytes that
 * tell how long the text is, the text, zeros.
 *
 * A child that a handler forks in between may find another text than its parent: it leaves the event to that. So each
 * word of the text is loaded, then the record is looked at, which is wiped in a child: only words that both have loaded
 * are stored by either. Where a handler made events, the cursor has moved, too: then C records this one once more.
 *
 * r10 = struct tramp_values, rcx = record, r11 = stack. Goes to \done, without a carry; or, with the stack as before,
 * to \slow: C records the event, also where the text is long, or is not where it may be read. Clobbers rax, rcx, rdx,
 * r10, r11.
 *
 *	stack	as VALUES_QUICK's
 *	in use	rsi the text, r8 its length, r9 words left, rdi where, r10 event; later r10 token, r11 record, cl how
 *		many bits of the last word are to be zeros
 */
.macro	VALUES_TEXT clock, done, slow
	SAVE	%r9, %r8, %rsi, %rdi
	pushq	$0
	.cfi_adjust_cfa_offset 8
	movzbl	QUICK_ENTRY+QUICK_PIECE(%r10), %eax
	mov	(%rsp,%rax), %rsi
	READABLE %rsi, %rdi, 96, 8f
	/* What is read below may be some bytes behind the text. */
	cmp	$TEXT_MOST+16, %rdi
	jb	8f
	movabs	$0x0101010101010101, %r9
	movabs	$0x8080808080808080, %rdi
	xor	%r8d, %r8d
1:	mov	(%rsi,%r8), %rdx
	mov	%rdx, %rax
	sub	%r9, %rax
	not	%rdx
	and	%rdx, %rax
	and	%rdi, %rax			/* the lowest bit is of the first byte that is 0 */
	jnz	2f
	add	$8, %r8d
	cmp	$TEXT_MOST, %r8d
	jb	1b
	jmp	8f
2:	bsf	%rax, %rax
	shr	$3, %eax
	add	%eax, %r8d
	lea	9(%r8), %r9d
	shr	$3, %r9d
	mov	QUICK_ENTRY+QUICK_TEXT(%r10), %r10
	CLOCK	\clock
	or	%rax, %r10
	add	%eax, %eax			/* edx = clock >> 31, as of WRITE */
	adc	%edx, %edx
	lea	-1(%r9), %rdi			/* one word is in the event already */
	shl	$32, %rdi
	add	%rdi, %r10
	ROOM	%rdi, "(%rdi,%r9,8)", 8f, 0
	mov	STATE_TOKEN(%rcx), %rax
	cmp	%rax, %r8			/* the first word of an empty text is 0, and the token may be */
	je	8f
	cmpxchg	%r10, (%rdi)			/* no lock: as of STORE */
	jne	5f
3:	mov	%rcx, %r11
	mov	%rax, %r10
	lea	(,%r9,8), %ecx
	sub	%r8d, %ecx
	lea	-16(,%rcx,8), %ecx
	cmp	$1, %r9d
	je	6f
4:	mov	-10(%rsi,%r9,8), %rdx
	shl	%cl, %rdx
	shr	%cl, %rdx
	xor	%ecx, %ecx
	cmp	%rdi, STATE_CURSOR(%r11)	/* after the text, before the store */
	jne	8f
	cmpxchg	%rdx, (%rdi,%r9,8)
	jne	7f
14:	dec	%r9d
	cmp	$1, %r9d
	ja	4b
6:	mov	(%rsi), %rdx
	shl	$16, %rdx
	shl	%cl, %rdx
	shr	%cl, %rdx
	or	%r8, %rdx
	cmp	%rdi, STATE_CURSOR(%r11)	/* as above */
	jne	8f
	cmpxchg	%rdx, 8(%rdi)
	jne	9f
16:	lea	9(%r8), %r8d
	and	$-8, %r8d
	add	$8, %r8d
	add	%r8, STATE_CURSOR(%r11)		/* relative, as of STORE */
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE	%rdi, %rsi, %r8, %r9
	jmp	\done
	.cfi_adjust_cfa_offset 40
/* A twin, forked by a handler, may have stored the words: as IF_TWINS. */
5:	cmp	%r10, %rax
	jne	8f
	SELF_AGAIN
	cmp	%rdi, STATE_CURSOR(%rcx)
	mov	STATE_TOKEN(%rcx), %rax
	je	3b
	jmp	8f
7:	TWIN_WORD 8f
	mov	%r10, %rax
	je	14b
	jmp	8f
9:	TWIN_WORD 8f
	je	16b
8:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE	%rdi, %rsi, %r8, %r9
	jmp	\slow
.endm

#endif
